data {
  int<lower=0> n;
  vector[n] y;
}
parameters {
  real<lower=0, upper=1> share;
  vector[2] place;
  vector<lower=0>[2] scale;
}
transformed parameters {
  real gap = place[2] - place[1];
}
model {
  share ~ uniform(0, 1);
  target += normal_lpdf(place | 0, 3);
  target += normal_lpdf(scale | 0, 2) + 2 * log(2);
  target += -0.1 * square(sum(place));
  for (i in 1:n)
    target += log_mix(share, normal_lpdf(y[i] | place[1], scale[1]), normal_lpdf(y[i] | place[2], scale[2]));
}
generated quantities {
  array[2] real again = normal_rng({place[1], place[2]}, 0.1);
  if (share < 0) reject("never");
}
