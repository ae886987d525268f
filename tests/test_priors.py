"""Every prior: its density is SciPy's with the Jacobian of its transform, and its draws have that law."""

import math

import numpy as np
import pytest
from scipy import integrate, stats

import temperance as tp
from temperance.priors import Prior
from temperance.priors.kernels.table import by_rows, table_of

pr = tp.priors
# Each prior beside its law in SciPy, written down anew from the definition of its parameters.
SINGLE = {
    "normal": (pr.normal(1, 2), stats.norm(1, 2)),
    "student_t": (pr.student_t(4, 1, 2), stats.t(4, 1, 2)),
    "cauchy": (pr.cauchy(-1, 3), stats.cauchy(-1, 3)),
    "half_normal": (pr.half_normal(3), stats.halfnorm(scale=3)),
    "half_cauchy": (pr.half_cauchy(2), stats.halfcauchy(scale=2)),
    "log_normal": (pr.log_normal(0.3, 0.5), stats.lognorm(0.5, scale=math.exp(0.3))),
    "gamma": (pr.gamma(2.5, 3), stats.gamma(2.5, scale=1 / 3)),
    "small gamma": (pr.gamma(0.3, 3), stats.gamma(0.3, scale=1 / 3)),
    "exponential": (pr.exponential(2), stats.expon(scale=1 / 2)),
    "uniform": (pr.uniform(-1, 4), stats.uniform(-1, 5)),
    "log_uniform": (pr.log_uniform(1, 1000), stats.loguniform(1, 1000)),
    "beta": (pr.beta(0.9, 3), stats.beta(0.9, 3)),
    "truncated below": (pr.truncated(pr.normal(1, 2), 0, None), stats.truncnorm(-0.5, np.inf, 1, 2)),
    "truncated above": (pr.truncated(pr.normal(1, 2), None, 0.5), stats.truncnorm(-np.inf, -0.25, 1, 2)),
    "truncated tail": (pr.truncated(pr.normal(0, 1), 6, 8), stats.truncnorm(6, 8)),
    "truncated in both": (pr.truncated(pr.uniform(0, 10), 2, 5), stats.uniform(2, 3)),
    "angle": (pr.angle(1, 4), stats.uniform(1, 4)),
    "flat": (pr.flat(2, 5), stats.uniform(2, 3)),
}
N = 4_000
FALSE_ALARM = 1e-4 / len(SINGLE)  # of each test of draws: one in ten thousand for all of them


def passed(prior: Prior, point: np.ndarray) -> tuple[np.ndarray, float]:
    values, log_prior = by_rows(table_of(prior.blocks), np.array([point], dtype=float), prior.size)
    return values[0], log_prior[0]


def log_prior(prior: Prior, point: np.ndarray) -> float:
    return passed(prior, point)[1]


def values(prior: Prior, point: np.ndarray) -> np.ndarray:
    return passed(prior, point)[0]


def log_slope(prior: Prior, point: np.ndarray) -> float:
    """Log of the volume that the transform gives to a small cube, by central differences."""
    columns = []
    for k, step in enumerate(np.diag(1e-5 * (1 + np.abs(point)))):
        difference = values(prior, point + step) - values(prior, point - step)
        columns.append(difference / (2 * step[k]))
    jacobian = np.array(columns)
    return 0.5 * np.linalg.slogdet(jacobian @ jacobian.T)[1]


def draws(prior: Prior, rng: np.random.Generator, n: int = N) -> np.ndarray:
    return np.array([values(prior, prior.draw(rng)) for _ in range(n)])


ON_THE_LINE = [name for name in SINGLE if name != "angle"]


@pytest.mark.parametrize("name", ON_THE_LINE)
def test_density_is_the_law_with_the_jacobian(name: str, rng: np.random.Generator):
    prior, law = SINGLE[name]
    for _ in range(20):
        point = prior.draw(rng)
        value = values(prior, point)[0]
        expected = law.logpdf(value) + log_slope(prior, point)
        assert log_prior(prior, point) == pytest.approx(expected, abs=2e-5)
        assert prior.unconstrain(np.asarray(value)) == pytest.approx(point, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("name", SINGLE)
def test_draws_have_the_law(name: str, rng: np.random.Generator):
    """Kolmogorov and Smirnov; a broken scale is seen below."""
    prior, law = SINGLE[name]
    assert stats.kstest(draws(prior, rng)[:, 0], law.cdf).pvalue > FALSE_ALARM


def test_draws_of_another_law_would_be_seen(rng: np.random.Generator):
    wrong = draws(pr.exponential(1 / 2), rng)[:, 0]  # a scale taken for a rate
    assert stats.kstest(wrong, SINGLE["exponential"][1].cdf).pvalue < FALSE_ALARM
    tilted = draws(pr.gamma(0.4, 3), rng)[:, 0]
    assert stats.kstest(tilted, SINGLE["small gamma"][1].cdf).pvalue < FALSE_ALARM


def test_a_missing_jacobian_would_be_seen(rng: np.random.Generator):
    prior, law = SINGLE["gamma"]
    point = prior.draw(rng)
    assert log_prior(prior, point) != pytest.approx(law.logpdf(values(prior, point)[0]), abs=1e-2)


def test_shares_have_dirichlets_law(rng: np.random.Generator):
    powers = np.array([1.0, 2.0, 0.5, 3.0])
    prior = pr.dirichlet(powers)
    for _ in range(10):
        point = prior.draw(rng)
        shares = values(prior, point)
        # SciPy's density is one of the first three shares: their volume is that of the simplex over √4.
        expected = stats.dirichlet(powers).logpdf(shares[:3]) + log_slope(prior, point) - 0.5 * math.log(4)
        assert log_prior(prior, point) == pytest.approx(expected, abs=1e-5)
        assert prior.unconstrain(shares) == pytest.approx(point, rel=1e-6, abs=1e-6)
    made = draws(prior, rng)
    for k, power in enumerate(powers):
        assert stats.kstest(made[:, k], stats.beta(power, powers.sum() - power).cdf).pvalue > FALSE_ALARM


def test_exchanging_shares_turns_their_coordinates(rng: np.random.Generator):
    """Distances between coordinates do not tell shares apart: no labelling is harder than another."""
    prior = pr.dirichlet(4)
    one, other = (values(prior, prior.draw(rng)) for _ in range(2))
    before = np.linalg.norm(prior.unconstrain(one) - prior.unconstrain(other))
    swapped = [2, 0, 3, 1]
    after = np.linalg.norm(prior.unconstrain(one[swapped]) - prior.unconstrain(other[swapped]))
    assert before == pytest.approx(after, rel=1e-10)


@pytest.mark.parametrize(
    ("base", "law"),
    [
        (pr.normal(1, 2), stats.norm(1, 2)),
        (pr.uniform(0, 2), stats.uniform(0, 2)),
        (pr.gamma(2, 1), stats.gamma(2)),
    ],
    ids=["normal", "uniform", "gamma"],
)
def test_ordered_values_are_sorted_draws(base: Prior, law: stats.rv_continuous, rng: np.random.Generator):
    prior = pr.ordered(base, 3)
    for _ in range(10):
        point = prior.draw(rng)
        value = values(prior, point)
        assert np.all(np.diff(value) > 0)
        expected = math.log(6) + law.logpdf(value).sum() + log_slope(prior, point)
        assert log_prior(prior, point) == pytest.approx(expected, abs=1e-4)
        assert prior.unconstrain(value) == pytest.approx(point, rel=1e-6, abs=1e-6)
    lowest = draws(prior, rng)[:, 0]
    assert stats.kstest(lowest, lambda x: 1 - (1 - law.cdf(x)) ** 3).pvalue > FALSE_ALARM


def test_normals_that_hang_together(rng: np.random.Generator):
    mean, covariance = np.array([1.0, -2.0]), np.array([[2.0, 0.7], [0.7, 1.0]])
    prior = pr.multivariate_normal(mean, covariance)
    point = prior.draw(rng)
    value = values(prior, point)
    expected = stats.multivariate_normal(mean, covariance).logpdf(value) + log_slope(prior, point)
    assert log_prior(prior, point) == pytest.approx(expected, abs=1e-6)
    assert prior.unconstrain(value) == pytest.approx(point)
    made = draws(prior, rng) @ np.array([1.0, 1.0])
    assert stats.kstest(made, stats.norm(-1.0, math.sqrt(4.4)).cdf).pvalue > FALSE_ALARM


def test_the_plane_of_an_angle_holds_one(rng: np.random.Generator):
    """The law of the plane integrates to one, has no preferred direction, and gives back every angle."""
    prior = pr.angle()

    def ring(radius: float) -> float:
        return 2 * math.pi * radius * math.exp(log_prior(prior, np.array([radius, 0.0])))

    assert integrate.quad(ring, 0, 10)[0] == pytest.approx(1.0, abs=1e-8)
    assert log_prior(prior, [0.3, 0.4]) == pytest.approx(log_prior(prior, [-0.5, 0.0]))
    assert log_prior(prior, [0.0, 0.0]) == -math.inf
    for angle in (0.0, 1.0, 3.2, 6.28):
        assert values(prior, prior.unconstrain(np.asarray(angle)))[0] == pytest.approx(angle, abs=1e-12)
    assert 0.0 <= values(prior, [1.0, -1e-300])[0] < 2 * math.pi
    squares = np.array([(prior.draw(rng) ** 2).sum() for _ in range(N)])
    shape = tp.priors.angles.RADIUS_SHAPE
    assert stats.kstest(squares, stats.gamma(shape, scale=1 / shape).cdf).pvalue > FALSE_ALARM


@pytest.mark.parametrize(
    ("prior", "slope"),
    [(pr.flat(), 0.0), (pr.flat(2.0, None), None), (pr.flat(None, 2.0), None), (pr.flat(0.0, 3.0), None)],
    ids=["open", "below", "above", "both"],
)
def test_flat_priors_are_flat(prior: Prior, slope: float | None):
    """The density of the coordinate is the Jacobian, up to a constant."""
    off = [log_prior(prior, [t]) - log_slope(prior, np.array([t])) for t in (-2.0, 0.3, 1.5)]
    assert off == pytest.approx([off[0]] * 3, abs=1e-5)
    assert prior.proper == (prior.text == "flat(0, 3)")


def test_numbers_may_be_arrays():
    prior = pr.normal([0.0, 100.0], [1.0, 5.0])
    assert prior.shape == (2,)
    assert values(prior, [1.0, 1.0]).tolist() == [1.0, 105.0]
    wide = pr.uniform(0.0, [[1.0], [2.0]], shape=(2, 3))
    assert values(wide, np.zeros(6)).tolist() == [0.5, 0.5, 0.5, 1.0, 1.0, 1.0]


def test_extreme_coordinates_stay_finite_or_vanish():
    """No NaN, whatever is proposed."""
    for prior, _ in SINGLE.values():
        for size in (1.0, 40.0, 800.0, 1e6):
            for sign in (-1.0, 1.0):
                point = np.full(prior.n_coordinates, sign * size)
                assert not math.isnan(log_prior(prior, point)), (prior, point)
                assert log_prior(prior, point) < math.inf


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: pr.normal(0, -1), "sigma must be positive, got -1"),
        (lambda: pr.normal(math.nan, 1), "mu must be finite"),
        (lambda: pr.uniform(2, 2), "lower must be below upper, got lower = 2.0 and upper = 2.0"),
        (lambda: pr.uniform(3, 2), "priors.uniform: lower must be below upper"),
        (lambda: pr.log_uniform(0, 2), "lower must be positive"),
        (lambda: pr.flat(3, 2), "lower must be below upper"),
        (lambda: pr.truncated(pr.normal(0, 1), 2, 1), "lower must be below upper"),
        (lambda: pr.truncated(pr.uniform(0, 1), 2, 3), "must leave some of uniform"),
        (lambda: pr.truncated(pr.dirichlet(3), 0, 1), "must be of a single value"),
        (lambda: pr.truncated(pr.flat(), 0, 1), "can be drawn from"),
        (lambda: pr.ordered(pr.flat(), 3), "can be drawn from"),
        (lambda: pr.ordered(pr.normal(0, 1), 1), "n must be at least 2"),
        (lambda: pr.ordered(3, 2), "prior must be a prior such as"),
        (lambda: pr.dirichlet(1), "priors.dirichlet: a must be at least 2"),
        (lambda: pr.dirichlet([1.0, -1.0]), "a must be positive"),
        (lambda: pr.multivariate_normal([0, 0], [[1, 2], [2, 1]]), "cov must be positive definite"),
        (lambda: pr.multivariate_normal([0, 0, 0], np.eye(2)), "must have shapes"),
        (lambda: pr.normal([0, 1], [1, 1, 1]), "mu and sigma must fit together"),
        (lambda: pr.normal([0, 1], 1, shape=3), "mu must fit the shape"),
        (lambda: pr.angle(0, -1), "period must lie in"),
        (lambda: pr.custom(3), "log_density must be a function"),
    ],
)
def test_what_is_no_prior_is_refused_by_name(make, message: str):
    with pytest.raises(tp.TemperanceError, match=message):
        make()
