"""BlackJAX: adaptive tempered sequential Monte Carlo."""

from typing import Any

from peers.contract import BOX, Outcome, Peer, Sampler
from peers.density import Density
from peers.jax_density import log_density
from peers.tasks import Task

PEER = Peer(
    title="BlackJAX SMC",
    kind="sequential Monte Carlo",
    start=BOX,
    packages=("blackjax>=1.7", "jax>=0.10"),
    notes="Adaptive tempering from the box to the target; random walks whose covariance follows the "
    "particles (`inner_kernel_tuning`). A step is compiled once, outside the CPU time. Counted: particles × "
    "(walk steps + 3) for each temperature, as each particle is also evaluated for the next temperature, for "
    "the walk's start and for its weight. The number of temperatures is not known beforehand: particles so "
    "that the budget is nearly used.",
)
TARGET_ESS = 0.5
USUAL_STEP = 2.38  # over √d, Roberts, Gelman & Gilks 1997
# (particles for 1,000 evaluations, walk steps at each temperature, scale of the walk)
PLANS = {
    "twenty_peaks": (23.0, 4, 0.3),
    "twenty_cylinders": (7.8, 10, 0.3),
    "bridge": (3.0, 10, 0.5),
    "two_modes": (4.0, 10, 1.0),
}


def prepare(task: Task, density: Density) -> Sampler:
    """Compile one step of the algorithm."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    rate, walk_steps, scale = PLANS[task.key]
    particles = int(rate * task.budget / 1_000.0)
    cost = particles * (walk_steps + 3)
    algorithm = _algorithm(task, walk_steps, scale)
    first = jax.jit(lambda points: algorithm.init(points))
    step = jax.jit(algorithm.step)

    def run(seed: int) -> Outcome:
        key = jax.random.PRNGKey(seed)
        points = density.from_unit(np.random.default_rng(seed).random((particles, task.dim)))
        state = first(jnp.asarray(points))
        temperatures = 0
        while float(state.sampler_state.tempering_param) < 1.0:
            key, now = jax.random.split(key)
            state, _ = step(now, state)
            temperatures += 1
        return Outcome(
            draws=np.asarray(state.sampler_state.particles),
            weights=np.asarray(state.sampler_state.weights),
            evaluations=temperatures * cost,
            settings=f"{particles} particles, {walk_steps} walk steps of {scale:g} × the usual size",
        )

    run(0)  # compiles
    return run


def _algorithm(task: Task, walk_steps: int, scale: float) -> Any:
    import blackjax
    import jax.numpy as jnp
    from blackjax.mcmc import random_walk
    from blackjax.smc import extend_params

    size = scale * USUAL_STEP / task.dim**0.5
    kernel = random_walk.build_additive_step()

    def walk(key: Any, state: Any, target: Any, factor: Any) -> Any:
        return kernel(key, state, target, random_walk.normal(factor))

    def factor_of(_key: Any, state: Any, _info: Any) -> Any:
        spread = jnp.cov(state.particles.T, aweights=state.weights)
        jitter = 1e-12 * jnp.diag(jnp.diag(spread))
        return extend_params({"factor": size * jnp.linalg.cholesky(spread + jitter)})

    sides = jnp.asarray(task.box[:, 1] - task.box[:, 0])
    return blackjax.inner_kernel_tuning(
        smc_algorithm=blackjax.adaptive_tempered_smc,
        logprior_fn=_log_box(task),
        loglikelihood_fn=log_density(task),
        mcmc_step_fn=walk,
        mcmc_init_fn=random_walk.init,
        resampling_fn=blackjax.smc.resampling.systematic,
        mcmc_parameter_update_fn=factor_of,
        initial_parameter_value=extend_params({"factor": size * jnp.diag(sides / 12.0**0.5)}),
        num_mcmc_steps=walk_steps,
        target_ess=TARGET_ESS,
    )


def _log_box(task: Task) -> Any:
    import jax.numpy as jnp

    lower, upper = jnp.asarray(task.box[:, 0]), jnp.asarray(task.box[:, 1])
    return lambda x: jnp.where(jnp.all((x >= lower) & (x <= upper)), 0.0, -jnp.inf)
