"""Weighted results as users see them: expect, weighted, resample, tables, files, and what is refused."""

import json
import math
import zipfile
from dataclasses import replace

import numpy as np
import pytest

import temperance as tp
from densities import gaussian, two_modes
from records import make_result, with_chains, with_sampling
from temperance.results.diagnostics import mcse_mean
from temperance.results.storage import FORMAT

QUIET = {"seed": 5, "progress": False}


def first(x):
    return x[:, 0]


@pytest.fixture(scope="module")
def result():
    return tp.sample(two_modes, initial=np.zeros(2), draws=1_500, tune=1_500, levels=4, chains=2, **QUIET)


def log_likelihood(p):
    return -0.5 * ((p["scale"] - 2.0) ** 2 + np.sum((p["place"] - [1.0, 3.0]) ** 2)) + 3.0 * np.cos(
        p["phase"]
    )


@pytest.fixture(scope="module")
def model():
    return tp.Model(
        log_likelihood,
        parameters={
            "scale": tp.priors.log_normal(0, 1),
            "place": tp.priors.normal(0, 3, shape=2),
            "phase": tp.priors.angle(),
        },
        derived=lambda p: {"area": p["scale"] ** 2, "total": p["place"] * p["scale"]},
    )


@pytest.fixture(scope="module")
def modelled(model):
    return tp.sample(model, draws=1_000, tune=1_500, levels=4, chains=2, **QUIET)


# ---- expect and weighted


def test_the_weighted_sample_is_draws_and_then_proposals(result) -> None:
    found = result.weighted
    assert found.by == "weighted"
    assert found.note == ""
    n_draws = result.draws.size // 2
    np.testing.assert_array_equal(found.points[:n_draws], result.draws.reshape(-1, 2))
    np.testing.assert_array_equal(found.log_density[:n_draws], result.log_density.ravel())
    np.testing.assert_allclose(found.log_density, [two_modes(x) for x in found.points], rtol=1e-12)
    jumps = np.concatenate([chain.sampling.jump >= 0 for chain in result.chains])
    assert len(found) == len(found.weights) == n_draws + np.count_nonzero(jumps)
    assert found.weights.min() > 0.0
    assert found.weights.sum() == pytest.approx(1.0)
    assert found.effective_size == pytest.approx(1.0 / (found.weights**2).sum())


def test_expectations_are_sums_over_the_weighted_sample(result) -> None:
    value, error, by = result.expect(first)
    assert by == "weighted"
    assert 0.0 < error < mcse_mean(result.draws[:, :, 0])
    assert value == pytest.approx(result.weighted.weights @ result.weighted.points[:, 0])
    several = result.expect(lambda x: np.stack([x, x**2], axis=1))
    assert several.value.shape == several.error.shape == (2, 2)
    assert several.value[0, 0] == pytest.approx(value)
    assert several.error[0, 0] == pytest.approx(error)
    share = result.expect(lambda x: x[:, 0] > 0.0)
    assert abs(share.value - 0.5) < 5.0 * share.error


def test_tables_show_what_expect_says(result) -> None:
    """The same of one parameter, with the quantiles of the weighted sample."""
    estimates = result.estimates
    for k in range(2):
        value, error, by = result.expect(lambda x, k=k: x[:, k])
        assert (estimates["mean"][k], estimates["mcse"][k], estimates["by"][k]) == (value, error, by)
    order = np.argsort(result.weighted.points[:, 0])
    ends = np.cumsum(result.weighted.weights[order])
    median = result.weighted.points[order, 0][np.searchsorted(ends, 0.5)]
    assert abs(estimates["50%"][0] - median) < 0.05
    spread = result.weighted.weights @ (result.weighted.points[:, 0] - estimates["mean"][0]) ** 2
    assert estimates["sd"][0] == pytest.approx(math.sqrt(spread))
    text = str(result)
    assert f"effective size {result.weighted.effective_size:,.0f}" in text
    assert " weighted " in text


def test_mode_weights_are_those_of_the_weighted_sample(result) -> None:
    modes = result.modes
    assert len(modes) == 2
    assert modes.by == "weighted"
    right = result.expect(lambda x: x.sum(axis=1) > 0.0)
    mode = int(modes.centre[1, 0] > 0.0)
    assert modes.weight[mode] == pytest.approx(right.value, abs=0.01)
    assert modes.weight_error[mode] == pytest.approx(right.error, rel=0.3)
    assert modes.weight_error.max() < modes._draw_weight_error.max()
    np.testing.assert_allclose(modes.draw_weight, modes.share.mean(axis=0))
    given = result.summary(modes=modes.centre).modes.columns
    np.testing.assert_allclose(given["weight"], modes.weight, atol=0.01)
    assert given["by"] == ["weighted"] * 2


def test_a_model_is_asked_by_name_in_its_own_units(modelled, model) -> None:
    asked = []

    def area(p):
        asked.append({name: values.shape for name, values in p.items()})
        return p["scale"] ** 2

    value, error, by = modelled.expect(area)
    n_draws, n_proposals = 2_000, len(modelled.weighted) - 2_000
    shapes = {"scale": (), "place": (2,), "phase": (), "area": (), "total": (2,)}
    assert asked == [{name: (n, *shape) for name, shape in shapes.items()} for n in (n_draws, n_proposals)]
    assert by == "weighted"
    assert error > 0.0
    table = modelled.derived_estimates
    assert table["parameter"][0] == "area"
    assert table["mean"][0] == pytest.approx(value)
    found = modelled.weighted
    assert found.points.shape == (len(found), 4)
    np.testing.assert_array_equal(found.points[:, 0], found.values["scale"])
    np.testing.assert_allclose(found.values["area"], found.values["scale"] ** 2)
    np.testing.assert_allclose(found.values["total"], found.values["place"] * found.values["scale"][:, None])
    assert found.points[:, 0].min() > 0.0, "in the user's units"
    direction = modelled.expect(lambda p: np.stack([np.cos(p["phase"]), np.sin(p["phase"])], axis=1))
    assert abs(direction.value[0] - 0.81) < 0.03
    assert abs(direction.value[1]) < 5.0 * direction.error[1]
    mean = modelled.estimates["mean"][modelled.parameters.labels.index("phase")]
    assert abs((mean + math.pi) % (2 * math.pi) - math.pi) < 0.2, "about zero, not in the middle of the turn"


# ---- what f may do


@pytest.mark.parametrize(
    ("f", "kind", "message"),
    [
        (3, tp.InvalidTypeError, "f must be a function, got int: 3"),
        (lambda x: x[:, 0] * np.nan, tp.InvalidInputError, "finite numbers, got NaN or inf at 3000 of 3000"),
        (lambda x: 1.0, tp.InvalidInputError, r"a row for each of 3000 points, got shape \(\)"),
        (lambda x: x[:5], tp.InvalidInputError, r"a row for each of 3000 points, got shape \(5, 2\)"),
        (lambda x: x.T, tp.InvalidInputError, r"a row for each of 3000 points, got shape \(2, 3000\)"),
        (lambda x: ["a"] * len(x), tp.InvalidTypeError, "an array of numbers"),
        (lambda x: None, tp.InvalidTypeError, "an array of numbers"),
        (lambda x: x["mu"], tp.InvalidInputError, "raised an error, IndexError"),
        (lambda: 1.0, tp.InvalidInputError, "raised an error, TypeError"),
    ],
)
def test_a_function_that_cannot_be_averaged_is_refused(f, kind, message, result) -> None:
    with pytest.raises(kind, match=message):
        result.expect(f)


def test_an_error_of_the_function_is_its_cause_and_has_its_line(result) -> None:
    def broken(x):
        raise KeyError("nothing")

    with pytest.raises(
        tp.InvalidInputError, match=r"broken raised an error, KeyError.*test_expect.py"
    ) as caught:
        result.expect(broken)
    assert isinstance(caught.value.__cause__, KeyError)


def test_the_function_gets_a_copy(result) -> None:
    def greedy(x):
        x[:] = 0.0
        return x[:, 0]

    before = result.draws.copy()
    assert result.expect(greedy).value == 0.0
    np.testing.assert_array_equal(result.draws, before)


# ---- without proposals


def test_without_proposals_it_is_the_draws_and_says_so() -> None:
    """Left out, or no jumps; the values are those of the draws."""
    for options, why in (
        ({"keep": ("draws", "statistics")}, "proposals were not kept"),
        ({"keep": "draws"}, "proposals were not kept"),
        ({"settings": tp.Settings(jumps=tp.Jumps(enabled=False))}, "no jumps were proposed"),
    ):
        result = tp.sample(two_modes, initial=np.zeros(2), draws=200, tune=300, levels=3, **QUIET, **options)
        x = result.draws[:, :, 0]
        assert result.expect(first) == (pytest.approx(x.mean()), pytest.approx(mcse_mean(x)), "draws")
        found = result.weighted
        assert found.by == "draws"
        assert why in found.note
        np.testing.assert_array_equal(found.weights, np.full(800, 1.0 / 800.0))
        assert result.estimates["by"] == ["draws"] * 2
        assert result.modes.by == "draws"
        with pytest.raises(tp.InvalidInputError, match=f"log_evidence cannot be computed; bridge: {why}"):
            result.log_evidence()
        assert "log evidence" not in str(result)


def test_hardly_any_overlap_falls_back(result) -> None:
    """As if all proposals had gone where there is nothing."""

    def nowhere(k, chain):
        return with_sampling(chain, proposal_log_density=chain.sampling.proposal_log_density - 1e4)

    def outside(k, chain):
        return with_sampling(chain, proposal_log_density=np.full(1_500, -np.inf))

    poor = with_chains(result, nowhere)
    assert poor.expect(first).by == "draws"
    assert "hardly overlap" in poor.weighted.note
    assert "by draws alone: jump proposals and draws hardly overlap" in str(poor)
    none = with_chains(result, outside)
    assert none.expect(first).by == "draws"
    assert "no jump was proposed to a point of the support" in none.weighted.note


def test_no_draws_and_one_draw() -> None:
    options = {"initial": np.zeros(2), "tune": 200, "levels": 3, "chains": 2, **QUIET}
    none, one = (tp.sample(gaussian, draws=draws, **options) for draws in (0, 1))
    with pytest.raises(tp.InvalidInputError, match="expect needs at least one draw, got none"):
        none.expect(first)
    with pytest.raises(tp.InvalidInputError, match="resample needs at least one draw, got none"):
        none.resample(3)
    with pytest.raises(tp.InvalidInputError, match="there are no draws"):
        none.log_evidence()
    assert len(none.weighted) == 0
    assert none.weighted.note == "there are no draws"
    value, error, by = one.expect(first)
    assert value == one.draws[:, 0, 0].mean()
    assert math.isnan(error)
    assert by == "draws"
    assert one.resample(4, seed=1).shape == (4, 2)
    assert str(none)
    assert str(one)


# ---- resample


@pytest.mark.parametrize("n", [1, 7, 5_000])
def test_resampling_is_systematic(n, result) -> None:
    """Every point comes up the whole part of n w times, or once more."""
    found = result.weighted
    numbered = replace(found, points=np.arange(len(found))[:, None])
    counts = np.bincount(numbered.resample(n, seed=2)[:, 0], minlength=len(found))
    assert counts.sum() == n
    assert np.all(np.abs(counts - n * found.weights) < 1.0 + 1e-9)


def test_resampling_has_a_seed_and_no_order(result) -> None:
    one, again, other = (result.resample(400, seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, again)
    assert one.shape == (400, 2)
    assert not np.array_equal(one, other)
    right = one[:, 0] > 0.0
    assert abs(np.corrcoef(right[1:], right[:-1])[0, 1]) < 0.25, "draws come first in the sample"
    generator = np.random.default_rng(1)
    assert not np.array_equal(result.resample(50, seed=generator), result.resample(50, seed=generator))


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        ((0,), tp.InvalidInputError, "n must be .*1.*got 0"),
        ((2.5,), tp.InvalidTypeError, "n must be a whole number"),
        ((3, -1), tp.InvalidInputError, "seed must not be negative"),
        ((3, "x"), tp.InvalidTypeError, "seed must be"),
    ],
)
def test_what_cannot_be_resampled_is_refused(arguments, kind, message, result) -> None:
    with pytest.raises(kind, match=message):
        result.resample(*arguments)


# ---- files and folders


def same_estimates(one, other, f) -> None:
    first_value, second_value = one.expect(f), other.expect(f)
    assert first_value == second_value
    np.testing.assert_array_equal(one.weighted.weights, other.weighted.weights)
    np.testing.assert_array_equal(one.weighted.points, other.weighted.points)
    assert str(one.log_evidence()) == str(other.log_evidence())
    np.testing.assert_array_equal(one.modes.weight, other.modes.weight)


def test_a_file_gives_the_same_estimates(result, modelled, tmp_path) -> None:
    same_estimates(result, tp.load(result.save(tmp_path / "plain")), first)
    same_estimates(modelled, tp.load(modelled.save(tmp_path / "model")), lambda p: p["area"])


def test_a_folder_gives_the_same_estimates(result, tmp_path) -> None:
    options = {"draws": 1_500, "tune": 1_500, "levels": 4, "chains": 2, **QUIET}
    written = tp.sample(two_modes, initial=np.zeros(2), store=tmp_path / "run", **options)
    same_estimates(result, written, first)
    same_estimates(result, tp.load(tmp_path / "run"), first)


def test_a_file_of_an_older_version_is_refused(result, tmp_path) -> None:
    """It has no proposals: what it could give is not what this version gives."""
    path = result.save(tmp_path / "new.npz")
    old = tmp_path / "old.npz"
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(old, "w") as target:
        for name in source.namelist():
            if "proposal" not in name:
                target.writestr(name, source.read(name) if name != "about.npy" else older(source.read(name)))
    with pytest.raises(
        tp.InvalidInputError, match=f"has format 5, this version reads {FORMAT}; it was written by"
    ):
        tp.load(old)


def older(content: bytes) -> bytes:
    """What is said about a result, as format 5 said it."""
    import io

    about = json.loads(str(np.load(io.BytesIO(content))))
    about["format"] = 5
    for chain in about["chains"]:
        del chain["proposal_values"]
        chain["rows"] = {phase: rows[:-2] for phase, rows in chain["rows"].items()}
    made = io.BytesIO()
    np.save(made, np.array(json.dumps(about)))
    return made.getvalue()


def test_a_run_made_by_hand_without_jumps_has_no_line_about_them(rng) -> None:
    text = str(make_result(rng, n_draws=100, n_tune=50))
    assert "weighted" not in text
    assert "by draws alone" not in text
