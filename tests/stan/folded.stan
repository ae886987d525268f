data {
  int<lower=0> n;
  vector[n] y;
}
parameters {
  real place;
  real<lower=0> scale;
}
model {
  place ~ normal(0.5, 2);
  scale ~ normal(0, 1);
  y ~ normal(abs(place), scale);
}
