"""The evidence: by the ladder against exact integrals, all ways side by side, and wherever it is shown."""

import json
import math
from dataclasses import replace
from types import MappingProxyType

import numpy as np
import pytest
from click.testing import CliRunner

import temperance as tp
from judge import judge_means
from records import make_result, with_chains, with_sampling
from temperance.cli import main
from temperance.results.show import as_html
from temperance.results.weighting import stones
from temperance.results.weighting.evidence import Evidence

BETA = np.array([1.0, 0.55, 0.3, 0.15, 0.06, 0.0])
CENTRE, WIDTH = 1.2, 0.5  # of the likelihood of one number whose prior is standard normal
TRUTH = -0.5 * CENTRE**2 / (1.0 + WIDTH**2) + math.log(WIDTH / math.sqrt(1.0 + WIDTH**2))
N_REPLICATES, SEEN_BIAS, SEEN_EXCESS = 1_000, 0.2, 0.3  # of the standard error; of the square of a z


def log_likelihood(x):
    return -0.5 * ((x - CENTRE) / WIDTH) ** 2


def climbed(rng, *, beta=BETA, n_chains=2, n_draws=150):
    """A run whose levels have independent draws of prior times likelihood to the power beta: normal ones."""
    precision = 1.0 + beta / WIDTH**2
    mean = beta * CENTRE / WIDTH**2 / precision

    def chain(k, record):
        x = mean + rng.standard_normal((n_draws, len(beta))) / np.sqrt(precision)
        return replace(with_sampling(record, log_density=log_likelihood(x)), beta=beta)

    made = make_result(rng, n_chains=n_chains, n_draws=n_draws, n_tune=0, n_levels=len(beta), dim=1)
    return with_chains(made, chain)


def ways(result):
    """Value and error of both ways over the ladder; the bridge has no proposals here."""
    found = result.log_evidence()
    assert found.by == "stepping stones"
    return [(found.value, found.error), found.others["thermodynamic integration"]]


# ---- by the ladder, in replicates


@pytest.fixture(scope="module")
def replicates():
    rng = np.random.default_rng(20261118)
    found = np.array([ways(climbed(rng)) for _ in range(N_REPLICATES)])
    return found[:, :, 0] - TRUTH, found[:, :, 1]


def test_the_ladder_gives_the_integral(replicates) -> None:
    """A bias of a fifth of the error would be seen. Thermodynamic integration has the error of its rule."""
    error, said = replicates
    off = error / error.std(axis=0, ddof=1)
    stepped = judge_means(off[:, :1], np.zeros(1), np.full(1, SEEN_BIAS))
    assert stepped.passed, stepped.detail
    assert abs(error[:, 1].mean()) < said[:, 1].mean()


def test_the_errors_of_the_ladder_are_honest(replicates) -> None:
    error, said = replicates
    square = (error / said) ** 2
    stepped = judge_means(square[:, :1], np.ones(1), np.full(1, SEEN_EXCESS))
    assert stepped.passed, stepped.detail
    assert square[:, 1].mean() < 1.0, "it includes what the rule may be off by"


def colder_draws(monkeypatch):
    """Each step is taken by the draws of the colder of its two levels."""
    real = stones._ladder

    def patched(chain):
        made = real(chain)
        return replace(made, log_likelihood=np.roll(made.log_likelihood, 1, axis=1))

    monkeypatch.setattr(stones, "_ladder", patched)


def missing_step(monkeypatch):
    """The last step, down to the prior, is left out."""
    real = stones._ladder

    def patched(chain):
        made = real(chain)
        return stones.Ladder(made.beta[:-1], made.log_likelihood[:, :-1])

    monkeypatch.setattr(stones, "_ladder", patched)


@pytest.mark.parametrize("breaks", [colder_draws, missing_step])
def test_broken_ladders_are_seen(breaks, rng, monkeypatch) -> None:
    breaks(monkeypatch)
    error = np.array([climbed(rng).log_evidence().value for _ in range(100)]) - TRUTH
    assert abs(error.mean()) > 0.5 * error.std(), "so much that the test above cannot pass"


# ---- where the ladder cannot say


def other_setup(result, **changes):
    return replace(result, setup=replace(result.setup, **changes))


def below(k, chain):
    """As if the prior were cut off below the likelihood: nothing of it is ever seen."""
    return with_sampling(chain, log_density=np.full(chain.sampling.log_density.shape, -np.inf))


def rested(k, chain):
    return with_sampling(chain, n_moved=np.ones_like(chain.sampling.n_moved))


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda made: other_setup(made, adapts_always=True), "the ladder never stopped moving"),
        (lambda made: with_chains(made, rested), "all levels moved in fewer than 20 draws"),
        (lambda made: with_chains(made, below), "no draw in the support of the likelihood"),
        (
            lambda made: with_chains(made, lambda k, chain: replace(chain, beta=chain.beta + 0.01)),
            r"it does not end at a prior \(beta = 0\)",
        ),
    ],
    ids=["moving", "resting", "no support", "no prior"],
)
def test_a_ladder_that_cannot_say_says_why(change, why, rng) -> None:
    with pytest.raises(tp.InvalidInputError, match=f"log_evidence cannot be computed; bridge: .*{why}"):
        change(climbed(rng)).log_evidence()


def test_two_levels_are_too_few(rng) -> None:
    """What trimming may leave: the prior, and a posterior far narrower than it."""

    def narrow(k, chain):
        return with_sampling(chain, log_density=400.0 * chain.sampling.log_density)

    made = with_chains(climbed(rng, beta=np.array([1.0, 0.0])), narrow)
    with pytest.raises(tp.InvalidInputError) as caught:
        made.log_evidence()
    for text in (
        "levels are too far apart for it: of the draws of level 2 only",
        "levels are too far apart for it: its correction",
    ):
        assert text in str(caught.value)


# ---- all ways side by side


def test_ways_agree_within_four_errors() -> None:
    """In print, too."""
    near, far = (
        Evidence(value=-3.0, error=0.03, by="bridge", others={"stepping stones": (value, 0.04)})
        for value in (-2.85, -2.7)
    )
    alone = Evidence(value=-3.0, error=0.03, by="bridge")
    assert (near.agree, far.agree, alone.agree) == (True, False, None)
    assert str(near) == "log evidence: -3.000 +/- 0.030 (bridge), -2.850 +/- 0.040 (stepping stones)"
    assert "; THESE DO NOT AGREE: the prior may not be normalised" in str(far)


QUIET = {"draws": 1_500, "tune": 2_000, "chains": 2, "seed": 8, "progress": False}
DIM, NARROW = 4, 0.3
EXACT = DIM * (-0.5 * CENTRE**2 / (1.0 + NARROW**2) + math.log(NARROW / math.sqrt(1.0 + NARROW**2)))
# Close enough to integrate over, and so many draws that resting levels have enough of them.
DENSE = {
    **QUIET,
    "initial": np.zeros(DIM),
    "levels": 12,
    "draws": 8_000,
    "settings": tp.Settings(
        trimming=tp.Trimming(enabled=False), adaptation=tp.Adaptation(swap_acceptance=0.7)
    ),
}


def of_data(x):
    return float(-0.5 * np.sum(((x - CENTRE) / NARROW) ** 2))


def standard(x):
    return float(-0.5 * x @ x) - 0.5 * DIM * math.log(2.0 * math.pi)


def unnormalised(x):
    return standard(x) + 5.0


@pytest.fixture(scope="module")
def result():
    return tp.sample(log_likelihood=of_data, log_prior=standard, **DENSE)


def test_three_ways_agree_with_the_truth(result) -> None:
    found = result.log_evidence()
    assert found.by == "bridge"
    assert list(found.others) == ["stepping stones", "thermodynamic integration"]
    assert found.agree
    for value, error in [(found.value, found.error), *found.others.values()]:
        assert abs(value - EXACT) < 5.0 * error
        assert error < 0.5
    assert found.error < 0.01


def test_a_prior_that_is_not_normalised_is_noticed() -> None:
    """The bridge integrates what it is given; the ladder takes the prior for normalised."""
    found = tp.sample(log_likelihood=of_data, log_prior=unnormalised, **DENSE)
    evidence = found.log_evidence()
    assert evidence.value == pytest.approx(EXACT + 5.0, abs=0.05)
    assert evidence.others["stepping stones"][0] == pytest.approx(EXACT, abs=1.0)
    assert evidence.agree is False
    assert "THESE DO NOT AGREE" in str(found)


def test_a_ladder_that_was_trimmed_leaves_the_bridge_and_says_so() -> None:
    def sharp(x):
        return -0.5 * float(np.sum(((x - 1.0) / 0.01) ** 2))

    def wide(x):
        return -0.5 * float(x @ x) - math.log(2.0 * math.pi)

    options = {"initial": np.ones(2), "inverse_temperatures": [1.0, 0.1, 0.01, 0.0], **QUIET}
    result = tp.sample(log_likelihood=sharp, log_prior=wide, **options)
    found = result.log_evidence()
    exact = -1.0 / (1.0 + 1e-4) + math.log(1e-4 / (1.0 + 1e-4))
    assert found.by == "bridge"
    assert abs(found.value - exact) < 5.0 * found.error
    assert not found.others
    assert len(found.notes) == 1
    why = "only the bridge is available, since the ladder cannot say: levels are too far apart for it"
    assert found.notes[0].startswith(why)
    assert str(found).endswith(found.notes[0])
    assert why not in str(result)


# ---- wherever it is shown


def test_print_notebook_and_report_show_it(result, tmp_path) -> None:
    line = result.log_evidence().in_short
    assert line.startswith("log evidence: ")
    assert line in str(result)
    assert line.replace("'", "&#x27;") in as_html(result)
    assert line in result.report(tmp_path / "page.html").read_text(encoding="utf-8")


def test_arviz_has_it_as_attributes(result) -> None:
    found, tree = result.log_evidence(), result.to_datatree()
    attributes = tree["posterior"].attrs
    assert attributes["log_evidence"] == found.value
    assert attributes["log_evidence_error"] == found.error
    assert attributes["log_evidence_by"] == "bridge"
    assert json.loads(attributes["log_evidence_others"]) == {k: list(v) for k, v in found.others.items()}
    assert attributes["log_evidence_in_words"] == str(found)
    weighted, about = tree["weighted_posterior"], tree["weighted_sample_stats"]
    np.testing.assert_array_equal(about["weight"], result.weighted.weights)
    np.testing.assert_array_equal(about["lp"], result.weighted.log_density)
    np.testing.assert_array_equal(weighted["x"], result.weighted.points)


def test_without_evidence_there_are_no_attributes(rng) -> None:
    attributes = make_result(rng, n_draws=50, n_tune=20).to_datatree()["posterior"].attrs
    assert not [name for name in attributes if "evidence" in name]


def test_a_shell_shows_it(tmp_path, monkeypatch) -> None:
    (tmp_path / "normal_model.py").write_text("def log_density(x):\n    return -0.5 * float(x @ x)\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    arguments = ["sample", "normal_model:log_density", "--initial", "0,0", "--seed", "3", "--chains", "2"]
    ended = CliRunner().invoke(main, [*arguments, "--draws", "600", "--tune", "800"])
    assert ended.exit_code == 0, ended.output
    lines = [line for line in ended.stdout.splitlines() if line.startswith("log evidence: ")]
    assert len(lines) == 1
    value, error = (float(word) for word in lines[0].split()[2:5:2])
    assert abs(value - math.log(2.0 * math.pi)) < 5.0 * error


# ---- a box, and what the zoo knows


def test_the_evidence_of_a_box_is_over_its_volume() -> None:
    """Bounds without a prior are the uniform one: of the same density, log of the volume is taken off."""
    model = tp.Model(lambda x: -0.5 * (x[0] ** 2 + x[1] ** 2), bounds=[(-8.0, 8.0), (-5.0, 15.0)])
    found = tp.sample(model, **QUIET).log_evidence()
    assert abs(found.value - math.log(2.0 * math.pi / (16.0 * 20.0))) < 5.0 * found.error
    assert found.error < 0.05


@pytest.mark.parametrize(("dim", "truth"), [(2, -1.7456), (5, -5.6736), (10, -14.5905)])
def test_shells_have_the_published_evidence(dim, truth) -> None:
    assert tp.zoo.gaussian_shells(dim).log_normaliser == pytest.approx(truth, abs=5e-5)


KNOWN = MappingProxyType({"gaussian": 0.02, "twenty_peaks": 0.05, "two_modes": 0.05, "gaussian_shells": 0.1})


@pytest.mark.parametrize("name", KNOWN)
def test_runs_agree_with_what_the_zoo_knows(name, seed) -> None:
    problem = tp.zoo.get(name)
    found = tp.sample(problem, chains=2, draws=2_000, seed=seed, progress=False).log_evidence()
    assert abs(found.value - problem.log_normaliser) < 5.0 * found.error
    assert found.error < KNOWN[name]
