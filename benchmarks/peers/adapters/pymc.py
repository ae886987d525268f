"""PyMC: sequential Monte Carlo from the prior to the posterior."""

from typing import Any

from peers.contract import BOX, Outcome, Peer, Sampler
from peers.density import Density
from peers.tasks import Task

PEER = Peer(
    title="PyMC SMC",
    kind="sequential Monte Carlo",
    start=BOX,
    packages=("pymc>=5.28",),
    notes="`sample_smc`, one chain; the box is the prior, the zoo's density a potential in an operation of "
    "its own, called point by point as PyMC does. What PyMC compiles at each call is in the CPU time. It "
    "chooses the number of steps itself: particles so that no run exceeds the budget; most use less.",
)
# (particles for 1,000 evaluations, kernel)
PLANS = {
    "twenty_peaks": (20.0, "IMH"),
    "twenty_peaks-375000": (14.0, "IMH"),  # it takes more steps when it has more particles
    "twenty_cylinders": (12.5, "IMH"),
    "bridge": (6.8, "IMH"),
    "two_modes": (6.5, "IMH"),
}


def prepare(task: Task, density: Density) -> Sampler:
    """Build the model."""
    import logging

    import numpy as np
    import pymc

    logging.getLogger("pymc").setLevel(logging.ERROR)
    rate, kernel = PLANS.get(task.name, PLANS[task.key])
    particles = int(rate * task.budget / 1_000.0)
    with pymc.Model() as model:
        x = pymc.Uniform("x", task.box[:, 0], task.box[:, 1], shape=task.dim)
        pymc.Potential("target", _operation(density)(x))

    def run(seed: int) -> Outcome:
        trace = pymc.sample_smc(
            particles, kernel=getattr(pymc.smc, kernel), model=model, chains=1, cores=1, random_seed=seed,
            progressbar=False, compute_convergence_checks=False, return_inferencedata=False,
        )  # fmt: skip
        return Outcome(
            draws=np.asarray(trace.get_values("x")), settings=f"{particles} particles, kernel {kernel}"
        )

    return run


def _operation(density: Density) -> Any:
    """The zoo's density as PyTensor sees it."""
    import numpy as np
    import pytensor.tensor as pt
    from pytensor.graph.basic import Apply
    from pytensor.graph.op import Op

    class ZooDensity(Op):
        """One point in, its log density out."""

        def make_node(self, x: Any) -> Any:
            return Apply(self, [pt.as_tensor(x)], [pt.dscalar()])

        def perform(self, _node: Any, inputs: Any, outputs: Any) -> None:
            outputs[0][0] = np.asarray(density(inputs[0]))

    return ZooDensity()
