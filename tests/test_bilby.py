"""bilby's plugin: the posterior, its evidence, constraints, circles, pools, and going on after a signal."""

import math
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from scipy import stats

bilby = pytest.importorskip("bilby", reason="bilby is not installed here; test_frontends.py has it")

import temperance as tp  # noqa: E402
from temperance.bilby import Temperance  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")  # bilby's own
bilby.core.utils.logger.setLevel("ERROR")

SHORT = {"draws": 400, "tune": 600, "chains": 2, "levels": 4, "seed": 3, "progress": False}


class TwoPeaks(bilby.Likelihood):
    """Two normal peaks in the plane, of equal weight."""

    def log_likelihood(self, parameters):
        x, y = parameters["x"], parameters["y"]
        return (
            math.log(0.5)
            + np.logaddexp(stats.norm.logpdf(x, -3, 0.2), stats.norm.logpdf(x, 3, 0.2))
            + stats.norm.logpdf(y, 0, 0.5)
        )


def priors(**more):
    return bilby.core.prior.PriorDict(
        {"x": bilby.core.prior.Uniform(-10, 10), "y": bilby.core.prior.Normal(0, 1), **more}
    )


def run(folder, likelihood=None, given=None, **options):
    return bilby.run_sampler(
        TwoPeaks() if likelihood is None else likelihood,
        priors() if given is None else given,
        sampler="temperance",
        outdir=str(folder),
        label="two",
        check_point_plot=False,
        save=False,
        **{**SHORT, **options},
    )


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    return run(tmp_path_factory.mktemp("run"), draws=2_000, tune=2_000)


def test_the_plugin_is_found_by_its_name():
    assert "temperance" in bilby.core.sampler.get_implemented_samplers()


def test_the_posterior_and_the_evidence(result):
    """Exact: peaks are far from the bounds, and two normals of variance 1/4 and 1 meet in y."""
    x, y = result.posterior["x"].to_numpy(), result.posterior["y"].to_numpy()
    assert len(x) == 4_000
    assert 0.4 < np.mean(x > 0) < 0.6
    assert abs(np.abs(x).mean() - 3) < 0.05
    assert abs(y.std() - math.sqrt(0.2)) < 0.06
    exact = math.log(1 / 20) + stats.norm.logpdf(0, 0, math.sqrt(1.25))
    assert 0 < result.log_evidence_err < 0.1
    assert abs(result.log_evidence - exact) < 5 * result.log_evidence_err


def test_likelihoods_are_those_of_the_samples(result):
    """Broken: rows of another order, or the prior in it."""
    again = [
        TwoPeaks().log_likelihood(dict(row)) for _, row in result.posterior[["x", "y"]].iloc[::97].iterrows()
    ]
    np.testing.assert_allclose(result.log_likelihood_evaluations[::97], again, rtol=1e-9)
    assert result.num_likelihood_evaluations > 4_000


def test_constraints_and_circles_are_kept_to(tmp_path):
    def converted(parameters):
        return {**parameters, "sum": parameters["x"] + parameters["y"]}

    given = bilby.core.prior.PriorDict(
        {
            **priors(),
            "phase": bilby.core.prior.Uniform(0, 2 * np.pi, boundary="periodic"),
            "sum": bilby.core.prior.Constraint(0, 100),
        },
        conversion_function=converted,
    )

    class Turning(TwoPeaks):
        def log_likelihood(self, parameters):
            return super().log_likelihood(parameters) + 20 * (math.cos(parameters["phase"]) - 1)

    made = run(tmp_path, Turning(), given)
    assert (made.posterior["x"] + made.posterior["y"]).min() > 0
    phase = made.posterior["phase"].to_numpy()
    assert phase.min() >= 0
    assert phase.max() <= 2 * np.pi
    assert 0.3 < np.mean(phase > np.pi) < 0.7  # across the cut, in one chain and the other


def test_a_pool_changes_no_draw(tmp_path):
    one, two = run(tmp_path / "one"), run(tmp_path / "two", npool=2)
    np.testing.assert_array_equal(one.samples, two.samples)


def test_a_run_that_is_there_is_gone_on_with(tmp_path):
    short = run(tmp_path, draws=200)
    longer = run(tmp_path, draws=400)
    assert (len(short.samples), len(longer.samples)) == (400, 800)
    np.testing.assert_array_equal(longer.samples[:200], short.samples[:200])
    other = tp.load(tmp_path / "temperance_two")
    assert other.draws.shape == (2, 400, 2)
    anew = run(tmp_path, draws=100, resume=False)
    assert len(anew.samples) == 200


class Odd(TwoPeaks):
    """One that goes wrong beyond a place, but not at the few points at which bilby times it before a run."""

    def __init__(self, wrong):
        super().__init__()
        self.wrong, self.calls = wrong, 0

    def log_likelihood(self, parameters):
        self.calls += 1
        return self.wrong() if parameters["x"] > 9.9 and self.calls > 100 else 0.0


def test_an_error_of_the_likelihood_is_told_with_its_line(tmp_path):
    with pytest.raises(
        tp.DensityError, match=r"raised an error in chain .* from .*test_bilby.py:\d+"
    ) as caught:
        run(tmp_path, Odd(lambda: {}["template"]), draws=4_000)
    assert isinstance(caught.value.__cause__, KeyError)


def test_a_nan_is_told_and_what_was_drawn_is_kept(tmp_path):
    with pytest.raises(tp.DensityError, match=r"Odd.log_likelihood \(of normal scores\) is nan in chain"):
        run(tmp_path, Odd(lambda: math.nan), draws=4_000)
    assert not tp.load(tmp_path / "temperance_two").complete


def test_priors_that_are_all_fixed_are_refused(tmp_path):
    fixed = bilby.core.prior.PriorDict({"x": bilby.core.prior.DeltaFunction(1.0)})
    with pytest.raises(tp.InvalidInputError, match="priors must leave a parameter free"):
        run(tmp_path, TwoPeaks(), fixed)


SCRIPT = """
import sys, time
sys.path.insert(0, {tests!r})
import test_bilby

class Slow(test_bilby.TwoPeaks):
    def log_likelihood(self, parameters):
        time.sleep(0.002)
        return super().log_likelihood(parameters)

print("ready", flush=True)
test_bilby.run({folder!r}, Slow(), draws=100_000)
"""


def test_sigterm_leaves_a_run_to_go_on_with(tmp_path):
    script = SCRIPT.format(tests=os.path.dirname(__file__), folder=str(tmp_path))
    child = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE)
    folder = tmp_path / "temperance_two"
    deadline = time.monotonic() + 240
    while not any(folder.glob("commit-*.npz")) and time.monotonic() < deadline:
        time.sleep(0.2)
        assert child.poll() is None
    child.send_signal(signal.SIGTERM)
    assert child.wait(timeout=60) == 130
    assert not tp.load(folder).complete


def test_arguments_of_the_constructor():
    sampler = Temperance(TwoPeaks(), priors(), label="a", outdir="b", seed=3, soft_init=True)
    assert sampler.kwargs["seed"] == 3
    points = sampler.parameters_of(np.array([[0.0, 1.5], [-9.0, 7.0], [50.0, 50.0]]))
    np.testing.assert_allclose(points[:2], [[0.0, 1.5], [-10.0, 7.0]], atol=1e-3)
    assert np.isfinite(points).all()
