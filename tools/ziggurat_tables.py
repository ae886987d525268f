"""Read NumPy's ziggurat off its generator, and write it to src/temperance/core/ziggurat.csv.

A layer's width is what ``standard_normal`` returns for the smallest nonzero mantissa, and its limit the first
mantissa that is not accepted at once. The state of SFC64 is set so that its next number is the wanted one.
"""

from pathlib import Path

import numpy as np

OUT = Path(__file__).parent.parent / "src" / "temperance" / "core" / "ziggurat.csv"
LAYERS, MANTISSA_BITS, SIGN_AND_LAYER_BITS = 256, 52, 9


def main() -> None:
    """Write a row for each layer."""
    rows = [f"{limit(layer)},{normal_from(layer, 1)[0].hex()}" for layer in range(LAYERS)]
    OUT.write_text("\n".join(["limit,width", *rows]) + "\n")


def limit(layer: int) -> int:
    """The smallest mantissa that needs a second number, by bisection."""
    low, high = 0, 1 << MANTISSA_BITS
    while low < high:
        middle = (low + high) // 2
        at_once = normal_from(layer, middle)[1] == 1
        low, high = (middle + 1, high) if at_once else (low, middle)
    return low


def normal_from(layer: int, mantissa: int) -> tuple[float, int]:
    """The normal that NumPy makes of these bits, and how many numbers it took."""
    bits = np.random.SFC64(0)
    state = dict(bits.state)
    first = (mantissa << SIGN_AND_LAYER_BITS) | layer  # a + b + counter is the next number
    state["state"] = {"state": np.array([first, 0, 0, 0], dtype=np.uint64)}
    bits.state = state
    return float(np.random.Generator(bits).standard_normal()), int(bits.state["state"]["state"][3])


if __name__ == "__main__":
    main()
