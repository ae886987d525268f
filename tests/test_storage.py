"""A result on disk: everything comes back, and what is not a result is refused."""

import errno
import json
from dataclasses import replace

import numpy as np
import pytest

import temperance as tp
from records import jumping, learnt_modes, make_result, with_chains
from temperance import files
from temperance.results import storage
from temperance.runs.allocate import cut

END_OF_DIRECTORY = 22  # bytes of the record with which a zip archive ends


def assert_same(one, other):
    assert one.parameters == other.parameters
    for field in ("n_levels_at_start", "n_tune", "swap_strategy", "complete", "setup"):
        assert getattr(one, field) == getattr(other, field)
    assert len(one.chains) == len(other.chains)
    for mine, yours in zip(one.chains, other.chains, strict=True):
        for phase in ("tuning", "sampling"):
            for column, twin in zip(getattr(mine, phase), getattr(yours, phase), strict=True):
                assert column.dtype == twin.dtype
                np.testing.assert_array_equal(column, twin)
        for field in ("beta", "log_scale", "mean", "covariance", "bound_hits", "n_bad_density", "complete"):
            np.testing.assert_array_equal(getattr(mine, field), getattr(yours, field))
        assert (mine.modes is None) == (yours.modes is None)
        if mine.modes is not None:
            for field, value in vars(mine.modes).items():
                np.testing.assert_array_equal(value, getattr(yours.modes, field))
                assert np.asarray(value).dtype == np.asarray(getattr(yours.modes, field)).dtype


@pytest.fixture(params=["whole", "ragged", "uneven levels", "empty", "jumps", "prior", "real", "real jumps"])
def result(request, rng, seed):
    made = make_result(rng, n_draws=40, n_tune=20, n_chains=3)
    if request.param == "ragged":
        made = with_chains(made, lambda k, chain: replace(chain, sampling=cut(chain.sampling, 7 * k)))
        return replace(made, complete=False)
    if request.param == "uneven levels":
        ends = ("beta", "log_scale", "mean", "covariance")
        return with_chains(
            made, lambda k, chain: replace(chain, **{name: getattr(chain, name)[: 4 - k] for name in ends})
        )
    if request.param == "empty":
        return with_chains(made, lambda k, chain: replace(chain, sampling=cut(chain.sampling, 0)))
    if request.param == "prior":
        return with_chains(
            made,
            lambda k, chain: replace(
                chain,
                **{
                    phase: getattr(chain, phase)._replace(
                        log_prior=rng.standard_normal(len(getattr(chain, phase).draws))
                    )
                    for phase in ("tuning", "sampling")
                },
            ),
        )
    if request.param == "jumps":  # three modes, one, and a chain that learnt nothing
        known = [learnt_modes([[0.0, 0.0], [3.0, 3.0], [9.0, 0.0]]), learnt_modes([[0.0, 1.0]], rest_every=3)]
        return with_chains(made, lambda k, chain: jumping(chain, known[k]) if k < 2 else chain)
    if request.param.startswith("real"):
        options = {"draws": 30, "tune": 100, "chains": 2, "levels": 3, "progress": False}
        adapt = "tuning" if request.param.endswith("jumps") else "always"
        return tp.sample(
            lambda x: -0.5 * float(x @ x), initial=np.zeros(2), seed=seed, adapt=adapt, **options
        )
    return made


def test_everything_comes_back(result, tmp_path):
    """A column left out, a padding left in, or a changed type would show."""
    path = result.save(tmp_path / "run.npz")
    assert_same(tp.load(path), result)
    assert str(tp.load(path)) == str(result)


def test_names_come_back(rng, tmp_path):
    names = {"mu": (2,), "sigma": ()}
    result = make_result(rng, n_draws=5, n_tune=5, dim=3).named(
        names, dims={"mu": "place"}, coords={"place": ["a", "b"]}
    )
    back = tp.load(result.save(tmp_path / "run"))
    assert back.parameters == result.parameters
    assert back.parameters.labels == ["mu[a]", "mu[b]", "sigma"]


@pytest.mark.parametrize(
    "recorded",
    [7, 2**100, [1, 2], np.random.SeedSequence(5, spawn_key=(1, 2)), [np.random.SeedSequence([1, 2, 3])]],
    ids=["number", "large", "list", "sequence", "list of sequences"],
)
def test_seeds_come_back(rng, tmp_path, recorded):
    result = replace(make_result(rng, n_draws=5, n_tune=5), seed=recorded)
    back = tp.load(result.save(tmp_path / "run"))
    assert repr(back.seed) == repr(recorded)


def test_numpy_alone_can_read_it(rng, tmp_path):
    result = make_result(rng, n_draws=11, n_tune=5)
    with np.load(result.save(tmp_path / "run"), allow_pickle=False) as file:
        np.testing.assert_array_equal(file["draws"], result.draws)
        np.testing.assert_array_equal(file["log_density"], result.log_density)


def test_the_ending_is_added_and_a_missing_folder_refused(rng, tmp_path):
    result = make_result(rng, n_draws=5, n_tune=5)
    assert result.save(tmp_path / "run.v2") == tmp_path / "run.v2.npz"
    with pytest.raises(tp.InvalidInputError, match=r"folder .*nowhere does not exist"):
        result.save(tmp_path / "nowhere" / "run.npz")
    assert [path.name for path in tmp_path.iterdir()] == ["run.v2.npz"], "nothing half written is left"


def test_a_file_is_not_replaced_without_leave(rng, tmp_path):
    result, other = (make_result(rng, n_draws=n_draws, n_tune=5) for n_draws in (5, 6))
    path = result.save(tmp_path / "run")
    with pytest.raises(tp.InvalidInputError, match=r"path: .*run\.npz exists; .*overwrite=True"):
        other.save(tmp_path / "run")
    assert_same(tp.load(path), result)
    assert_same(tp.load(other.save(path, overwrite=True)), other)
    with pytest.raises(tp.InvalidTypeError, match="overwrite must be True or False, got str"):
        other.save(path, overwrite="yes")


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("file/run.npz", r"folder .*file does not exist"),
        ("folder.npz", r"folder\.npz is a folder"),
        ("closed/run.npz", r"run\.npz cannot be written: read-only$"),
    ],
)
def test_where_no_file_can_be_put_is_said(rng, tmp_path, monkeypatch, place, message):
    (tmp_path / "file").write_text("")
    (tmp_path / "folder.npz").mkdir()
    (tmp_path / "closed").mkdir()

    def refuses(self, mode):  # root can write to any folder, whatever its mode
        raise OSError(errno.EROFS, "read-only", str(self))

    monkeypatch.setattr(files.Path, "open", refuses)
    with pytest.raises(tp.InvalidInputError, match=f"^path: .*{message}"):
        make_result(rng, n_draws=5, n_tune=5).save(tmp_path / place)


def test_a_failed_save_leaves_the_old_file(rng, tmp_path, monkeypatch):
    result = make_result(rng, n_draws=5, n_tune=5)
    path = result.save(tmp_path / "run.npz")
    before = path.read_bytes()

    def fails(file, **arrays):
        file.write(b"half of it")
        raise OSError("no space left")

    monkeypatch.setattr(np, "savez_compressed", fails)
    with pytest.raises(OSError, match="no space left"):
        result.save(path, overwrite=True)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(("length", "fits"), [(251, True), (252, False)])
def test_a_name_that_passes_the_check_can_be_written(rng, tmp_path, length, fits):
    """Broken: a partial file whose name is longer than the one asked for."""
    result, path = make_result(rng, n_draws=5, n_tune=5), tmp_path / f"{'n' * length}.npz"
    if fits:
        files.require_writable(path, overwrite=False)
        assert list(tmp_path.iterdir()) == []
        assert result.save(path) == path
    else:
        with pytest.raises(tp.InvalidInputError, match=r"^path: .*cannot be written: .*too long$"):
            files.require_writable(path, overwrite=False)


def test_an_error_while_writing_names_the_file_asked_for(tmp_path):
    path = tmp_path / "page.html"
    path.mkdir()
    with pytest.raises(IsADirectoryError) as caught:
        files.write_text(path, "text")
    assert caught.value.filename == str(path)
    assert "partial" not in str(caught.value)
    assert list(tmp_path.iterdir()) == [path]


def damaged(content):
    """One bit turned over, in even steps through the file and all over its end; and the file cut off."""
    size = 8 * len(content)
    for bit in {*range(0, size, size // 400), *range(size - 8 * END_OF_DIRECTORY, size)}:
        broken = bytearray(content)
        broken[bit // 8] ^= 1 << bit % 8
        yield bytes(broken)
    for length in range(0, len(content), len(content) // 40):
        yield content[:length]


def test_a_damaged_file_is_refused_by_name_or_read_as_it_was(rng, tmp_path):
    """Broken: arrays that are not read to their end, so that nobody looks at the checksum."""
    result = make_result(rng, n_draws=5, n_tune=5, dim=1)
    path = result.save(tmp_path / "run.npz")
    refused = 0
    for content in damaged(path.read_bytes()):
        path.write_bytes(content)
        try:
            back = tp.load(path)
        except tp.InvalidInputError as error:
            assert "run.npz" in str(error)  # noqa: PT017  others are failures
            refused += 1
        else:
            assert_same(back, result)
            assert back.seed == result.seed
    assert refused > 200


@pytest.mark.parametrize("content", [b"", b"not a file of arrays", b"PK\x03\x04 broken"])
def test_what_is_not_a_result_is_refused(tmp_path, content):
    path = tmp_path / "run.npz"
    path.write_bytes(content)
    with pytest.raises(tp.InvalidInputError, match=r"run\.npz is damaged, or no result"):
        tp.load(path)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(tp.InvalidInputError, match=r"no file .*absent\.npz"):
        tp.load(tmp_path / "absent.npz")


def test_a_folder_without_a_run_is_not_called_damaged(tmp_path):
    with pytest.raises(tp.InvalidInputError, match=r"^path: .* holds no run of temperance$"):
        tp.load(tmp_path)


def test_other_arrays_are_refused(tmp_path):
    np.savez(tmp_path / "run.npz", draws=np.zeros((1, 2, 3)))
    with pytest.raises(tp.InvalidInputError, match=r"no result saved by temperance.*about"):
        tp.load(tmp_path / "run.npz")


def test_a_later_format_is_refused_by_number(rng, tmp_path, monkeypatch):
    monkeypatch.setattr(storage, "FORMAT", 99)
    path = make_result(rng, n_draws=5, n_tune=5).save(tmp_path / "run")
    monkeypatch.undo()
    with pytest.raises(tp.InvalidInputError, match=f"has format 99, this version reads {storage.FORMAT}"):
        tp.load(path)


@pytest.mark.parametrize("bad", [{"chains": "many"}, {"setup": None}, {"seed": {}}, {"seed": 1.5}])
def test_a_file_with_wrong_facts_is_refused(rng, tmp_path, bad):
    path = make_result(rng, n_draws=5, n_tune=5).save(tmp_path / "run")
    with np.load(path) as file:
        arrays = dict(file)
    arrays["about"] = np.array(json.dumps({**json.loads(str(arrays["about"])), **bad}))
    np.savez(path, **arrays)
    with pytest.raises(tp.InvalidInputError, match="is damaged, or no result"):
        tp.load(path)
