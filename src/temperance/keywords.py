"""Keywords that do not exist, answered with those that were meant."""

import difflib
import inspect
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any

from temperance.errors import InvalidTypeError

CLOSE = 0.75  # of 1, from which on a name is taken for a slip of another
IN_A_MODEL = "it belongs to a model: temperance.Model(function, {}=...)"
IN_THE_SAMPLER = "it belongs to the algorithm, which is set up first: temperance.pymc.sampler({}=...)"
IN_THE_RUN = "it belongs to the run: temperance.sample(model, {}=...)"
IN_SETTINGS = "it belongs to the settings: settings=temperance.Settings({}=...)"
IN_UNTIL = "it is a goal or a budget: until=temperance.Until({}=...)"


def _meaning(names: Mapping[str, str]) -> dict[str, str]:
    """From what people write to what is said to them; the keys are the keywords that they mean."""
    return {said: f"did you mean {name}=?" for name, others in names.items() for said in others.split()}


def _at_home(names: str, where: str) -> dict[str, str]:
    """Names that are a keyword of something else."""
    return {name: where.format(name) for name in names.split()}


SAMPLE: Mapping[str, str] = MappingProxyType(
    {
        **_at_home("bounds coords derived dims names parameters periodic vector", IN_A_MODEL),
        **_at_home("adaptation bad_density growth jumps trimming", IN_SETTINGS),
        **_at_home("ess evaluations r_hat seconds weight_error", IN_UNTIL),
        **dict.fromkeys(("prior", "priors"), IN_A_MODEL.format("parameters")),
        **_meaning(
            {
                "chains": "n_chains nchains num_chains walkers nwalkers n_walkers",
                "cores": "n_cores ncores threads",
                "data": "args observed",
                "draws": "iterations n_draws n_iter n_samples n_steps nsamples nsteps num_samples samples",
                "initial": "init initial_values initvals inits p0 start starts x0",
                "inverse_temperatures": "beta betas",
                "levels": "n_levels n_replicas n_temperatures n_temps nlevels ntemps replicas",
                "log_likelihood": "likelihood log_like loglike loglikelihood",
                "log_prior": "logprior",
                "model": "density log_density log_posterior log_prob logp target",
                "pool": "client executor n_jobs n_workers njobs processes workers",
                "progress": "progress_bar progressbar verbose",
                "seed": "random_seed random_state rng",
                "store": "folder out path",
                "swaps": "swap_strategy",
                "temperatures": "ladder temps",
                "tune": "burn burn_in burnin n_tune num_warmup tuning warmup",
            }
        ),
    }
)

MODEL: Mapping[str, str] = MappingProxyType(
    {
        **_at_home("chains cores draws initial levels pool progress seed store tune", IN_THE_RUN),
        **_meaning(
            {
                "bounds": "limits ranges",
                "coords": "coordinates",
                "data": "args observed",
                "derived": "deterministic deterministics transformed",
                "log_likelihood": "likelihood log_like loglike loglikelihood",
                "parameters": "params prior priors",
                "periodic": "angles circular",
            }
        ),
    }
)

PYMC_SAMPLE: Mapping[str, str] = MappingProxyType(
    {
        **_at_home(
            "adapt inverse_temperatures levels settings store swaps temperatures thin", IN_THE_SAMPLER
        ),
        **_meaning({"initvals": "initial start", "progressbar": "progress", "random_seed": "seed"}),
    }
)


def require_known(function: Callable[..., Any], unknown: Iterable[str], meant: Mapping[str, str]) -> None:
    """Refuse keywords that a function has not, with what to type instead where that can be told."""
    for name in unknown:
        called = function.__qualname__.removesuffix(".__init__")
        cure = meant.get(name) or _nearest(name, function)
        raise InvalidTypeError(f"{called}() has no keyword {name!r}; {cure}")


def _nearest(name: str, function: Callable[..., Any]) -> str:
    parameters = inspect.signature(function).parameters.values()
    known = [one.name for one in parameters if one.name != "self" and one.kind != one.VAR_KEYWORD]
    near = difflib.get_close_matches(name, known, n=1, cutoff=CLOSE)
    return f"did you mean {near[0]}=?" if near else f"it has {', '.join(known)}"
