"""What a run leaves to its user."""

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from temperance.core.state import FloatArray
from temperance.errors import InvalidInputError
from temperance.parameters import parameters_from
from temperance.results import storage
from temperance.results.causes import Advice, advice_of, changes_of, with_cures
from temperance.results.drawn import Drawn
from temperance.results.estimates import derived_estimates_of, estimates_of
from temperance.results.joining import checked_results, joined_results
from temperance.results.modes import Modes, given_modes, modes_of
from temperance.results.reached import Reached, reached_of
from temperance.results.searched import Searched, searched_of
from temperance.results.show import as_html, as_text, in_short
from temperance.results.summary import Summary, summarise
from temperance.results.warnings import ResultWarning, found_in, goals_missed, verdict
from temperance.results.weighting.evidence import Evidence, evidence_of
from temperance.results.weighting.weighted import Weighted, expectation, weighted_of
from temperance.results.weighting.weighting import Estimate, Weighting, weighting_of


@dataclass(frozen=True, kw_only=True, eq=False)
class Result(Drawn):
    """Draws from the target, and how they came about.

    ``draws`` is the posterior: the base level only. ``chains`` holds everything else, chain by chain.
    An incomplete run (``complete`` is False) keeps in ``draws`` the largest block of chains and draws
    that is rectangular; nothing is lost in ``chains``. Printed, a result shows its verdict and its warnings
    first. A result equals itself alone, so that it can be a key: compare what it holds, such as ``draws``.
    """

    @classmethod
    def concatenate(cls, results: Any) -> "Result":
        """The chains of several runs as one result: a list of runs of one model that differ in their seeds.

        Where chains do not learn from each other (``Jumps(share=False)``), it is the result of one run with
        all these chains, which its ``seed`` would repeat.
        """
        return joined_results(checked_results(results, cls))

    def named(self, parameters: Any, *, dims: Any = None, coords: Any = None) -> "Result":
        """The same result, with names that are used wherever it is shown or exported.

        Parameters
        ----------
        parameters
            Names and shapes of consecutive coordinates, such as ``{"mu": (3,), "sigma": ()}``; or a list with
            one name for each coordinate; or one name for all of them.
        dims, coords
            As in ArviZ: names of a parameter's dimensions, and labels along a dimension.
        """
        if self.value_names is not None:
            known = ", ".join(self.value_names.shapes)
            raise InvalidInputError(
                f"the model has named its parameters: {known}; name them there, by "
                "tp.Model(parameters=..., dims=..., coords=...)"
            )
        return replace(self, names=parameters_from(parameters, self.dim, dims, coords))

    @cached_property
    def weighting(self) -> Weighting:
        """How draws and jump proposals are put together for estimates, or why they are not."""
        return weighting_of(self)

    @cached_property
    def weighted(self) -> Weighted:
        """Draws and jump proposals as one weighted sample: points, weights, effective size.

        Its estimates are at least as good as those of the draws where jumps do well, and often much better.
        Without jumps, or where they hardly overlap with the draws, it is the draws with equal weights, and
        its ``note`` says why.
        """
        return weighted_of(self)

    def expect(self, f: Any) -> Estimate:
        """The mean of a function under the target: value, standard error, and what they are by.

        ``f`` takes points, (n, dim), or, of a `Model`, a dictionary of parameters by name, each (n, ...); it
        returns n numbers or n arrays. The estimate is that of the weighted sample or of the draws, whichever
        has the smaller standard error.
        """
        return expectation(self, f)

    def resample(self, n: int, seed: Any = None) -> FloatArray:
        """``n`` plain draws from the weighted sample, (n, value), by systematic resampling."""
        return self.weighted.resample(n, seed)

    def log_evidence(self) -> Evidence:
        """Log of the integral of the target, with its standard error: by a bridge between draws and jumps.

        Where there is a prior part, stepping stones and thermodynamic integration over the ladder give
        second opinions.
        """
        return evidence_of(self)

    @cached_property
    def estimates(self) -> dict[str, list[Any]]:
        """Moments, quantiles, Monte Carlo error, ESS and R-hat, one column each."""
        return estimates_of(self)

    @cached_property
    def derived_estimates(self) -> dict[str, list[Any]]:
        """The same of what a model derives; no warning looks at these."""
        return derived_estimates_of(self)

    def summary(self, modes: Any = None) -> Summary:
        """All diagnostics as tables: parameters, levels, chains, pairs of levels, modes."""
        return summarise(self, modes)

    @cached_property
    def warnings(self) -> tuple[ResultWarning, ...]:
        """What should worry you, each with a cure."""
        return with_cures(self._found, self.advice)

    @cached_property
    def advice(self) -> tuple[Advice, ...]:
        """What to do, the first thing first: each cause of the warnings once, with what to change."""
        return advice_of(self, self._found)

    @cached_property
    def _found(self) -> tuple[ResultWarning, ...]:
        """Warnings without cures."""
        goals = goals_missed(self)
        return found_in(self) if goals is None else (*found_in(self), goals)

    @property
    def changes(self) -> dict[str, Any]:
        """All of the advice that a program can follow, for the next call of `sample`.

        By name: its keyword arguments, or ``settings.part.field`` of `temperance.Settings`.
        """
        return changes_of(self.advice)

    @cached_property
    def doubts(self) -> tuple[str, ...]:
        """The names of the serious warnings: while there are any, no number of the run is to be quoted."""
        return tuple(one.name for one in found_in(self) if one.serious)

    @property
    def verdict(self) -> str:
        """What the warnings amount to, in one sentence: whether the draws agree with themselves."""
        return verdict(self.warnings, searched=self.searched.enough)

    @cached_property
    def searched(self) -> Searched:
        """What was searched: modes found, starts, the hottest temperature, scouts."""
        return searched_of(self)

    @cached_property
    def reached(self) -> Reached | None:
        """What was found of the goals that ``until=`` set, and what ended the run; None without goals."""
        return reached_of(self)

    @cached_property
    def modes(self) -> Modes:
        """The modes in which there are draws, the heaviest first: centres, widths, weights, visits.

        They are those that the chains learnt while tuning, put together. Where nothing was learnt, as with
        ``Jumps(enabled=False)``, groups of draws with wide gaps between them are looked for, and modes that
        touch count as one.
        """
        return modes_of(self)

    def occupancy(self, modes: Any = None) -> FloatArray:
        """Share of each chain in each mode, (chain, mode).

        ``modes`` are their centres, (mode, dim), and each draw belongs to the nearest. Without them, the
        modes are those of `Result.modes`.
        """
        if not self.draws.size:
            raise InvalidInputError("occupancy needs at least one draw, got none")
        return (self.modes if modes is None else given_modes(self, modes)).share

    def to_datatree(self, *, warmup: bool = False, levels: bool = False) -> Any:
        """The result as an ``xarray.DataTree`` in the layout of ArviZ; see `to_arviz`."""
        from temperance.results.datatree import to_datatree

        return to_datatree(self, warmup=warmup, levels=levels)

    def to_arviz(self, *, warmup: bool = False, levels: bool = False) -> Any:
        """The result for ArviZ: a ``DataTree``, or ``InferenceData`` before ArviZ 1.

        ``warmup`` adds the tuning, ``levels`` the draws of the hot levels (``keep`` must have had "levels")
        as a group of their own. A chain is an independent run, never a temperature.
        """
        from temperance.results.datatree import to_arviz

        return to_arviz(self, warmup=warmup, levels=levels)

    def plot(self, parameters: Any = None) -> Any:
        """The answer as a figure: marginals and pairs coloured by mode, weights of modes, ladder and flow.

        ``parameters`` are names or numbers of those to show, derived quantities among them; without it, all
        if they are few, or those that tell the modes apart best. Returned is a Matplotlib figure, which a
        notebook shows and ``result.plot().savefig("answer.png")`` writes. The plots one by one, and others,
        are in `temperance.plots`.
        """
        from temperance.results.plots.overview import overview

        return overview(self, parameters=parameters)

    def report(self, path: Any, *, title: str = "temperance", overwrite: bool = False) -> Path:
        """Write one self-contained page: verdict, warnings, tables, figures, settings; and say where.

        A file of that name is only replaced with ``overwrite=True``.
        """
        from temperance.results.report import write_report

        return write_report(self, path, title=title, overwrite=overwrite)

    def save(self, path: Any, *, overwrite: bool = False) -> Path:
        """Write everything to one .npz file, which `temperance.load` and NumPy read, and say where.

        A file of that name is only replaced with ``overwrite=True``.
        """
        return storage.save(self, path, overwrite=overwrite)

    def __repr__(self) -> str:
        return in_short(self)

    def __str__(self) -> str:
        return as_text(self)

    def _repr_html_(self) -> str:
        return as_html(self)
