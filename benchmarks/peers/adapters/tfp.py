"""TensorFlow Probability's ReplicaExchangeMC, on JAX."""

from typing import Any

from peers.contract import ONE_POINT, Outcome, Peer, Sampler
from peers.density import Density
from peers.jax_density import log_density
from peers.ladders import after_burn_in, describe
from peers.tasks import Task

PEER = Peer(
    title="TFP ReplicaExchangeMC",
    kind="tempering",
    start=ONE_POINT,
    packages=("tensorflow-probability>=0.25", "jax>=0.10"),
    shims="`jax.interpreters.xla.pytype_aval_mappings`, which JAX removed, is put back before the import.",
    notes="On JAX, compiled as a whole, all levels vectorised; compilation is not in the CPU time. Random "
    "walks with steps of 2.38/√d widths of a mode times √T, since nothing adapts; a geometric ladder; its "
    "usual swaps of neighbours. Counted: levels × (2 steps + 1), as it evaluates every state once more after "
    "the swaps.",
)
# (levels, hottest temperature)
LADDERS = {
    "twenty_peaks": (4, 200.0),
    "twenty_cylinders": (8, 200.0),
    "bridge": (5, 50.0),
    "two_modes": (8, 200.0),
}
EVALUATIONS_A_STEP = 2  # the proposal, and whatever the swaps left
USUAL_STEP = 2.38  # over √d, Roberts, Gelman & Gilks 1997


def prepare(task: Task, _density: Density) -> Sampler:
    """Compile a run of as many steps as the budget allows."""
    import jax
    import numpy as np

    levels, hottest = LADDERS[task.key]
    steps = (task.budget // levels - 1) // EVALUATIONS_A_STEP
    run_compiled = jax.jit(_chain(task, steps)).lower(jax.random.PRNGKey(0)).compile()

    def run(seed: int) -> Outcome:
        draws = np.asarray(run_compiled(jax.random.PRNGKey(seed)))
        return Outcome(
            draws=after_burn_in(draws),
            evaluations=levels * (EVALUATIONS_A_STEP * steps + 1),
            settings=describe(levels, hottest),
        )

    return run


def _chain(task: Task, steps: int) -> Any:
    import jax
    import jax.interpreters.xla
    import jax.numpy as jnp
    import numpy as np
    from jax._src import core

    jax.interpreters.xla.pytype_aval_mappings = core.pytype_aval_mappings  # type: ignore[attr-defined]  # the shim
    from tensorflow_probability.substrates.jax import mcmc

    levels, hottest = LADDERS[task.key]
    beta = np.geomspace(1.0, 1.0 / hottest, levels)
    step = USUAL_STEP / np.sqrt(task.dim) * task.width / np.sqrt(beta)[:, None]
    kernel = mcmc.ReplicaExchangeMC(
        jax.vmap(log_density(task)),
        inverse_temperatures=beta,
        make_kernel_fn=lambda target: mcmc.RandomWalkMetropolis(
            target, new_state_fn=mcmc.random_walk_normal_fn(scale=step)
        ),
    )

    def chain(key: Any) -> Any:
        return mcmc.sample_chain(
            steps, current_state=jnp.asarray(task.start), kernel=kernel, trace_fn=None, seed=key
        )

    return chain
