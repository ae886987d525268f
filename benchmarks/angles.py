"""How an angle is best sampled: as a direction in the plane, on circles of what width, or by a line.

Prints effective draws of sine and cosine, the fewer of the two, for 1,000 evaluations: three angles known
to a precision of kappa, each beside a normal, with the mode of all three on the cut; median over
repetitions. The line, whose mode is in the middle of it, stands for the best that a walk that wraps could
do. Run with ``python benchmarks/angles.py``: a minute or two.
"""

import numba
import numpy as np

import temperance as tp
from temperance.priors import angles

SHAPES = (1.0, 2.0, 4.0, 8.0, 16.0, 64.0)
PRECISIONS = (0.0, 1.0, 10.0, 100.0, 1e4)
REPETITIONS = 5
N = 3
MODE = np.zeros(1)


@numba.njit
def log_likelihood(x, data):
    """Von Mises about the mode, and a normal whose mean follows the angle."""
    kappa, mode = data[0][0], data[1][0]
    total = 0.0
    for i in range(N):
        total += kappa * (np.cos(x[i] - mode) - 1.0) - 0.5 * (x[N + i] - np.sin(x[i])) ** 2
    return total


def effective_draws(prior: tp.priors.Prior, kappa: float, mode: float, seed: int) -> float:
    """Of the worst sine or cosine, for 1,000 evaluations of the draws."""
    model = tp.Model(
        log_likelihood,
        parameters={"angle": prior, "b": tp.priors.normal(0, 1, shape=N)},
        data=(np.array([kappa]), np.array([mode])),
    )
    result = tp.sample(model, draws=4_000, chains=2, seed=seed, progress=False, cores=1)
    turned = result.values["angle"]
    sizes = [tp.diagnostics.ess_bulk(f(turned[:, :, i])) for f in (np.sin, np.cos) for i in range(N)]
    asked = sum(int(chain.sampling.evaluations.sum()) for chain in result.chains)
    return 1000.0 * min(sizes) / asked


def main() -> None:
    """Print the table."""
    print("| kappa | " + " | ".join(f"shape {shape:g}" for shape in SHAPES) + " | line |")
    print("|---" * (len(SHAPES) + 2) + "|")
    for kappa in PRECISIONS:
        cells = []
        for shape in SHAPES:
            angles.RADIUS_SHAPE = shape
            runs = [
                effective_draws(tp.priors.angle(shape=N), kappa, 0.0, seed) for seed in range(REPETITIONS)
            ]
            cells.append(np.median(runs))
        line = tp.priors.uniform(-np.pi, np.pi, shape=N)
        runs = [effective_draws(line, kappa, 0.0, seed) for seed in range(REPETITIONS)]
        cells.append(np.median(runs))
        print(f"| {kappa:g} | " + " | ".join(f"{cell:.1f}" for cell in cells) + " |", flush=True)


if __name__ == "__main__":
    main()
