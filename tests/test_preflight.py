"""The look at a log density before a run: what it sees, what it costs, and that it changes nothing."""

import math
import signal
import subprocess
import sys
import time
import warnings
from concurrent.futures import ThreadPoolExecutor

import numba
import numpy as np
import pytest

import temperance as tp
from temperance.pooling import Shared
from temperance.runs import preflight
from temperance.runs.preflight import falls_off

QUICK = {"levels": 2, "chains": 2, "tune": 20, "draws": 20, "seed": 1, "progress": False}


def gaussian(x):
    return -0.5 * float(x @ x)


def heard(density, **options):
    """The warnings about the density, in words."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        tp.sample(density, **{**QUICK, "initial": np.zeros(2), **options})
    return [
        str(one.message)
        for one in caught
        if isinstance(one.message, tp.FlatDensityWarning | tp.VaryingDensityWarning)
    ]


FLAT = {
    "wrong sign": lambda x: 0.5 * float(x @ x),
    "constant": lambda x: 0.0,
    "a coordinate that is not used": lambda x: -0.5 * float(x[0] ** 2),
    "the density and not its logarithm": lambda x: math.exp(-0.5 * min(float(x @ x), 1e3)),
    "one side open": lambda x: -float(max(x[0], 0.0)) - 0.5 * float(x[1] ** 2),
    "too heavy a tail": lambda x: -0.5 * math.log1p(float(x @ x)),
}
FALLING = {
    "gaussian": gaussian,
    "Cauchy": lambda x: -1.5 * math.log1p(float(x @ x)),
    "a box": lambda x: 0.0 if np.all(np.abs(x) < 1.0) else -math.inf,
    "no number far away": lambda x: gaussian(x) if np.all(np.abs(x) < 100.0) else math.nan,
    "an error far away": lambda x: gaussian(x) / (not np.any(np.abs(x) > 100.0)),
    "compiled": numba.njit(lambda x: -0.5 * np.sum(x**2)),
}


@pytest.mark.parametrize("name", FLAT)
def test_what_does_not_fall_off_is_named(name):
    (message,) = heard(FLAT[name])
    assert "does not fall off along" in message
    assert "x[" in message


@pytest.mark.parametrize("name", FALLING)
def test_what_falls_off_is_left_in_peace(name):
    """A test that took a fixed drop for enough would warn of the Cauchy law, or not of the tail above."""
    assert heard(FALLING[name]) == []


def test_many_coordinates_are_looked_at_along_rays():
    (message,) = heard(lambda x: 0.5 * float(x @ x), initial=np.zeros(9))
    assert "a ray into" in message
    assert heard(gaussian, initial=np.zeros(9)) == []


@pytest.mark.parametrize("dim", [1, 2, 4, 5, 40])
def test_it_takes_twenty_evaluations_at_most_and_changes_no_draw(dim):
    calls = []

    def counted(x):
        calls.append(1)
        return gaussian(x)

    options = {**QUICK, "initial": np.zeros(dim), "levels": 6}
    with_it = tp.sample(counted, **options)
    n_with, calls[:] = len(calls), []
    without = tp.sample(counted, preflight=False, **options)
    assert n_with - len(calls) == with_it.setup.n_preflight
    assert 0 < with_it.setup.n_preflight <= 20
    assert without.setup.n_preflight == 0
    np.testing.assert_array_equal(with_it.draws, without.draws)


@pytest.mark.parametrize("of", [None, pytest.param(2, marks=pytest.mark.slow)], ids=["threads", "processes"])
def test_a_pool_looks_at_the_same_points(of):
    options = {**QUICK, "initial": np.zeros(2)}
    alone = tp.sample(gaussian, cores=1, **options)
    with ThreadPoolExecutor(2) as threads:
        pool = threads if of is None else tp.Pool(of, share="chains")
        pooled = tp.sample(gaussian, pool=pool, **options)
        assert heard(FLAT["wrong sign"], pool=pool) == heard(FLAT["wrong sign"])
    assert pooled.setup.n_preflight == alone.setup.n_preflight == 10
    np.testing.assert_array_equal(pooled.draws, alone.draws)


def test_what_is_cheap_far_away_is_not_taken_for_cheap(monkeypatch):
    """Broken: rays that are followed before it is decided who makes the chains, by what a point takes."""
    known = []
    monkeypatch.setattr(Shared, "_send", lambda self, *_: known.append(self.target.seconds))

    def walled(x):
        if np.any(np.abs(x) > 100.0):
            return -math.inf
        time.sleep(2e-3)
        return gaussian(x)

    with ThreadPoolExecutor(2) as threads:
        tp.sample(walled, initial=np.zeros(2), pool=threads, **{**QUICK, "tune": 2, "draws": 2})
    assert known[0] >= 2e-3


def test_what_takes_long_far_away_is_not_asked_for_long(monkeypatch):
    """As a solver of differential equations may."""
    monkeypatch.setattr(preflight, "MOST_SECONDS", 0.05)
    far = []

    def stiff(x):
        if np.any(np.abs(x) > 100.0):
            far.append(1)
            time.sleep(0.1)
        return gaussian(x)

    heard(stiff)
    assert len(far) == 2  # of eight


HANGING = """
import sys, numba, numpy as np, temperance as tp

@numba.njit(nogil=True)
def hanging(x):
    value = -0.5 * np.sum(x**2)
    if value < -1e4:
        print("far")
    while np.sum(x**2) > 1e4:
        value += 1.0
    return value

tp.sample(hanging, initial=np.zeros(2), levels=2, tune=20, draws=20, chains=1, seed=1, progress=False)
"""


def test_a_density_that_hangs_far_away_is_ended_by_ctrl_c():
    """Compiled, where Python hears nothing; broken: rays that the main thread follows."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-u", "-c", HANGING], **pipes) as process:
        try:
            assert process.stdout.readline() == "far\n"
            time.sleep(0.5)
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=20)
        finally:
            process.kill()
    assert "KeyboardInterrupt" in errors


def test_what_overflows_far_away_is_not_told_by_numpy():
    """Broken: a state of the calling thread, where another one asks."""

    def overflows(x):
        return -float(np.sum(np.exp(np.abs(x))))

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        tp.sample(overflows, **{**QUICK, "initial": np.zeros(2)})
    assert not [one for one in caught if issubclass(one.category, RuntimeWarning)]


def test_it_can_be_switched_off(rng):
    assert heard(FLAT["constant"], preflight=False) == []
    assert heard(lambda x: gaussian(x) + rng.normal(), preflight=False) == []
    assert "gave" in heard(lambda x: gaussian(x) + rng.normal())[0]
    with pytest.raises(tp.InvalidTypeError, match="preflight must be True or False, got str"):
        heard(gaussian, preflight="no")


def test_a_function_of_rows_is_told_of_vectorized():
    with pytest.raises(tp.InvalidTypeError, match="vectorized=True"):
        heard(lambda x: -0.5 * x**2)
    with pytest.raises(tp.DensityError, match="vectorized=True"):
        heard(lambda x: -0.5 * np.sum(x**2, axis=1))
    with pytest.raises(tp.DensityError, match="vectorized=True"):
        heard(lambda x: -0.5 * x[:, 0] ** 2)


def test_falls_off_by_the_power_that_an_integral_needs():
    fall = math.log(1e3)
    assert falls_off(0.0, -2.01 * fall, 2)
    assert not falls_off(0.0, -1.99 * fall, 2)
    assert falls_off(-math.inf, -math.inf, 2)
    assert falls_off(math.nan, 0.0, 2)
    assert falls_off(0.0, math.inf, 2)
    assert not falls_off(-math.inf, 0.0, 2)


def facts(density, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return tp.sample(density, **{**QUICK, "initial": np.zeros(2), **options}).setup.preflight


def test_what_it_saw_is_kept(tmp_path):
    """Student's t with four degrees of freedom in two dimensions falls as the sixth power."""

    def student(x):
        return -3.0 * math.log1p(float(x @ x) / 4.0)

    seen = facts(student, store=tmp_path / "run")
    assert seen["tail"] == pytest.approx(6.0, abs=1e-3)
    assert seen["walls"] == 0.0
    assert tp.load(tmp_path / "run").setup.preflight == seen
    assert facts(FALLING["a box"]) == {"walls": 4.0, "near": 1e3}
    assert facts(gaussian)["tail"] > 1e10
    assert facts(gaussian, preflight=False) == {}
    rng = np.random.default_rng(1)
    assert facts(lambda x: gaussian(x) + rng.normal())["varies"] == 1.0


def test_runs_that_saw_other_tails_can_be_put_together():
    options = {**QUICK, "initial": lambda rng: rng.normal(size=2)}
    results = [tp.sample(gaussian, **{**options, "seed": seed}) for seed in (1, 2)]
    assert results[0].setup.preflight != results[1].setup.preflight
    assert len(tp.Result.concatenate(results).chains) == 4
