"""Posterior means of the zoo's posteriors, by quadrature: writes src/temperance/zoo/data/posteriors.json.

Parameters in which a likelihood is normal are integrated out in closed form, the others over grids; nothing
of the sampler is used. Each number is computed on two grids, and the error is how far they differ.
Takes some minutes: ``python tools/posterior_references.py``.
"""

import json
import math
from collections.abc import Callable
from pathlib import Path

import numba
import numpy as np
import numpy.typing as npt

from temperance.zoo import epidemics, exponentials, sensors, sinusoids

FloatArray = npt.NDArray[np.float64]
Moments = tuple[float, float]  # mean and standard deviation
PATH = Path(__file__).parents[1] / "src" / "temperance" / "zoo" / "data" / "posteriors.json"
NORMALS, SEED = 4_000, 1  # draws for the share of a normal that lies in a box, the same for each
SMALLEST = 1e-12  # share of the largest mass that is left out


def moments(mass: FloatArray, values: FloatArray) -> Moments:
    """Mean and standard deviation of values with these masses."""
    share = mass / mass.sum()
    mean = float(share @ values)
    return mean, math.sqrt(float(share @ (values - mean) ** 2))


def yes(share: float) -> Moments:
    """The same of what is one with this probability, and else zero."""
    return share, math.sqrt(share * (1.0 - share))


def midpoints(bounds: tuple[float, float], n: int) -> FloatArray:
    """The centres of equal cells."""
    low, high = bounds
    return low + (high - low) * (np.arange(n) + 0.5) / n


@numba.njit
def normal_mass(low: float, high: float, mean: float, sd: float) -> float:
    """Mass of a normal between two bounds."""
    root = sd * math.sqrt(2.0)
    upper, lower = (high - mean) / root, (low - mean) / root
    if lower > 0.0:
        return 0.5 * (math.erfc(lower) - math.erfc(upper))
    return 0.5 * (math.erfc(-upper) - math.erfc(-lower))


@numba.njit
def pair_of_amplitudes(first: float, second: float, log_noises: FloatArray, amplitudes: FloatArray) -> float:
    """The likelihood of two rates, amplitudes and noise integrated out; but for a constant."""
    times, seen = exponentials.TIMES, exponentials.SEEN
    aa = ab = bb = ya = yb = yy = 0.0
    for i in range(times.shape[0]):
        a, b, y = math.exp(-first * times[i]), math.exp(-second * times[i]), seen[i]
        aa += a * a
        ab += a * b
        bb += b * b
        ya += y * a
        yb += y * b
        yy += y * y
    total = 0.0
    for log_noise in log_noises:
        precision = math.exp(-2.0 * log_noise)
        sd = math.sqrt(1.0 / (precision * bb))
        for one in amplitudes:
            other = (yb - ab * one) / bb
            rest = yy - 2.0 * one * ya + one * one * aa - other * other * bb
            log_value = -0.5 * precision * rest - times.shape[0] * log_noise - LARGEST
            if log_value > -60.0:
                total += math.exp(log_value) * sd * normal_mass(0.0, exponentials.AMPLITUDE[1], other, sd)
    return total


LARGEST = 60.0  # about the largest log likelihood of the exponentials, so that exponentials are numbers


@numba.njit
def masses_of_rates(log_rates: FloatArray, log_noises: FloatArray, amplitudes: FloatArray) -> FloatArray:
    """Mass of each pair of rates, the first the slower one."""
    mass = np.zeros((log_rates.shape[0], log_rates.shape[0]))
    for i in range(log_rates.shape[0]):
        for j in range(i, log_rates.shape[0]):
            mass[i, j] = pair_of_amplitudes(
                math.exp(log_rates[i]), math.exp(log_rates[j]), log_noises, amplitudes
            )
        mass[i, i] *= 0.5
    return mass


def of_exponentials(scale: float) -> dict[str, Moments]:
    """By grids over both rates, the noise and one amplitude."""
    log_rates = midpoints(exponentials.LOG_RATE, int(300 * scale))
    log_noises = midpoints((-4.2, -2.2), int(24 * scale))  # beyond it nothing is left
    mass = masses_of_rates(log_rates, log_noises, midpoints(exponentials.AMPLITUDE, int(300 * scale)))
    slower, faster = (moments(mass.sum(axis=axis), log_rates) for axis in (1, 0))
    return {"first_is_faster": yes(0.5), "log_slower": slower, "log_faster": faster}


def of_sinusoid(scale: float) -> dict[str, Moments]:
    """By grids over frequency and noise; the share of the other three in their box by common normals."""
    frequencies = midpoints(sinusoids.FREQUENCY, int(1500 * scale))
    log_noises = midpoints(sinusoids.LOG_NOISE, int(40 * scale))
    normals = np.random.default_rng(SEED).standard_normal((int(NORMALS * scale**2), 3))
    mass = np.zeros((len(frequencies), len(log_noises)))
    for i, frequency in enumerate(frequencies):
        angle = 2.0 * math.pi * frequency * sinusoids.TIMES
        design = np.column_stack([np.cos(angle), np.sin(angle), np.ones(len(angle))])
        root = np.linalg.cholesky(design.T @ design)
        centre = np.linalg.solve(root.T, np.linalg.solve(root, design.T @ sinusoids.SEEN))
        rest = ((sinusoids.SEEN - design @ centre) ** 2).sum()
        spread = np.linalg.solve(root.T, normals.T).T
        furthest = [np.abs(centre + math.exp(log_noise) * spread).max(axis=1) for log_noise in log_noises]
        inside = np.array([(one < sinusoids.REACH).mean() for one in furthest])
        power = len(angle) - 3.0
        log_mass = -0.5 * rest * np.exp(-2.0 * log_noises) - power * log_noises
        mass[i] = np.exp(log_mass) * inside / np.diag(root).prod()
    by_frequency = mass.sum(axis=1) / mass.sum()
    above = by_frequency[frequencies > sinusoids.CUT].sum()
    return {"high_frequency": yes(float(above)), "frequency": moments(by_frequency, frequencies)}


@numba.njit(fastmath=True)
def passed(mass: FloatArray, axis: FloatArray, step: float) -> FloatArray:
    """What a sensor's mass over the square says of a neighbour at this distance."""
    n = axis.shape[0]
    out = np.zeros((n, n))
    reach = math.ceil((step + 7.0 * sensors.NOISE) * n)
    for i in range(n):
        for j in range(n):
            if mass[i, j] > 0.0:
                for k in range(max(0, i - reach), min(n, i + reach + 1)):
                    for m in range(max(0, j - reach), min(n, j + reach + 1)):
                        off = (math.hypot(axis[i] - axis[k], axis[j] - axis[m]) - step) / sensors.NOISE
                        if abs(off) < 7.0:
                            out[k, m] += mass[i, j] * math.exp(-0.5 * off * off)
    return out


def heard(sensor: int, axis: FloatArray) -> FloatArray:
    """The likelihood of a sensor's place by its distances to anchors, (x, y)."""
    x, y = np.meshgrid(axis, axis, indexing="ij")
    log_value = np.zeros(x.shape)
    for k in np.flatnonzero(sensor == sensors.SENSORS):
        place = sensors.FROM[k]
        off = np.hypot(x - place[0], y - place[1]) - sensors.DISTANCES[k]
        log_value -= 0.5 * (off / sensors.NOISE) ** 2
    value = np.exp(log_value)
    return np.where(value > SMALLEST, value, 0.0)


def of_localisation(scale: float) -> dict[str, Moments]:
    """The sensors hear each other in a chain: masses on a grid over the square, passed from one to the next.

    The first sensor is held in the upper half, as the rest is its mirror image.
    """
    axis = midpoints((0.0, 1.0), int(100 * scale))
    local = [heard(sensor, axis) for sensor in range(4)]
    upper = axis[None, :] > 0.5
    steps = sensors.STEPS
    forward = [np.where(upper, local[0], 0.0)]
    for k in range(3):
        forward.append(_trimmed(local[k + 1] * passed(forward[k], axis, steps[k])))
    backward = [np.ones(local[3].shape)]
    for k in (2, 1, 0):
        backward.insert(0, passed(_trimmed(local[k + 1] * backward[0]), axis, steps[k]))
    place = [ahead * behind for ahead, behind in zip(forward, backward, strict=True)]
    place = [one / one.sum() for one in place]
    same = {f"same_side_{k + 1}": yes(float(place[k][:, axis > 0.5].sum())) for k in (1, 2, 3)}
    across = {f"x_{k + 1}": moments(place[k].sum(axis=1), axis) for k in (2, 3)}
    return {"first_above": yes(0.5), **same, **across}


def _trimmed(mass: FloatArray) -> FloatArray:
    return np.where(mass > SMALLEST * mass.max(), mass, 0.0)


@numba.njit
def masses_of_epidemics(
    contact: FloatArray, recovery: FloatArray, first: FloatArray, log_noises: FloatArray, out: FloatArray
) -> None:
    """Mass, first and second moment of the share reported, at each pair of rates, (contact, recovery, 3)."""
    low, high = epidemics.REPORTED
    seen = epidemics.SEEN
    cases = np.empty(seen.shape[0])
    for i in range(contact.shape[0]):
        for j in range(recovery.shape[0]):
            for begun in first:
                epidemics.new_cases(math.exp(contact[i]), math.exp(recovery[j]), math.exp(begun), cases)
                yy, yc, cc = (seen * seen).sum(), (seen * cases).sum(), (cases * cases).sum()
                centre = yc / cc
                rest = yy - centre * yc
                for log_noise in log_noises:
                    precision = math.exp(-2.0 * log_noise)
                    sd = 1.0 / math.sqrt(precision * cc)
                    log_value = -0.5 * precision * rest - seen.shape[0] * log_noise + 35.0
                    mass = math.exp(log_value) * sd * normal_mass(low, high, centre, sd)
                    at_low, at_high = (low - centre) / sd, (high - centre) / sd
                    edges = math.exp(-0.5 * at_low**2) - math.exp(-0.5 * at_high**2)
                    moment = centre * mass + math.exp(log_value) * sd * sd * edges / math.sqrt(2.0 * math.pi)
                    edges = low * math.exp(-0.5 * at_low**2) - high * math.exp(-0.5 * at_high**2)
                    square = centre * moment + sd * sd * mass
                    square += math.exp(log_value) * sd * sd * edges / math.sqrt(2.0 * math.pi)
                    out[i, j, 0] += mass
                    out[i, j, 1] += moment
                    out[i, j, 2] += square


def of_epidemic(scale: float) -> dict[str, Moments]:
    """By grids over both rates, the first cases and the noise."""
    n = int(100 * scale)
    contact, recovery = midpoints(epidemics.CONTACT, 2 * n), midpoints(epidemics.RECOVERY, n)
    out = np.zeros((2 * n, n, 3))
    first, log_noises = midpoints(epidemics.LOG_FIRST, n), midpoints(epidemics.LOG_NOISE, int(24 * scale))
    masses_of_epidemics(contact, recovery, first, log_noises, out)
    mass = out[:, :, 0]
    _, mean, square = out.sum(axis=(0, 1)) / mass.sum()
    return {
        "log_contact": moments(mass.sum(axis=1), contact),
        "log_recovery": moments(mass.sum(axis=0), recovery),
        "reported": (float(mean), math.sqrt(float(square - mean**2))),
    }


WAYS: dict[str, tuple[Callable[[float], dict[str, Moments]], float, float]] = {
    "two_exponentials": (of_exponentials, 1.0, 1.5),
    "sinusoid": (of_sinusoid, 1.0, 1.5),
    "localisation": (of_localisation, 1.0, 1.6),
    "epidemic": (of_epidemic, 1.0, 1.5),
}


def main() -> None:
    """All of them, on a grid and on a finer one."""
    known = {}
    for key, (way, coarse, fine) in WAYS.items():
        rough, good = way(coarse), way(fine)
        known[key] = {
            "mean": {name: round(mean, 6) for name, (mean, _) in good.items()},
            "deviation": {name: round(deviation, 6) for name, (_, deviation) in good.items()},
            "error": {name: float(f"{abs(good[name][0] - rough[name][0]):.1e}") for name in good},
        }
        PATH.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
