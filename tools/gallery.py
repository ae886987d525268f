"""Makes docs/gallery.md and its pictures: one for each plot, and one for each problem of the zoo.

Run with ``make gallery``, which takes some minutes.
"""

import argparse
import datetime
import io
import json
import platform
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

import temperance as tp
from temperance.demo import run_demo
from temperance.results.plots.canvas import pyplot

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "gallery.md"
FOLDER = ROOT / "docs" / "images" / "gallery"
FACTS = FOLDER / "facts.json"
SEED, DRAWS = 29, 2_000
DPI = {"plot": 100, "zoo": 90}
WIDTH = 0.1  # the standard deviation of each of the twenty peaks
INKS = 96  # colours of a picture; more cannot be told apart
PACKAGES = ("temperance", "numpy", "numba", "matplotlib")
HEAD = """# Gallery

One picture for each plot, and one for each problem of the zoo. `make gallery` draws them and writes this
page: seed {seed}, {draws:,} draws a chain, all else by default; {versions}; {date}.

The twenty peaks can also be [stepped through](interactive/twenty_peaks.html): levels, swaps and jumps of
recorded draws, in one page that needs no network.

## The answer at once

`result.plot()` of the twenty peaks; `result.report("run.html")` has these plots and all others.

{answer}

It counts 19 modes and not twenty: {touching}, so
that draws of either might be the other's, and [what overlaps is one mode](results.md#modes), here of
twice the weight.

## Each plot

Each is a function of `temperance.plots` ([how to call them](results.md#plots)), here of one run on the
twenty peaks with five levels at the start.

{plots}
## Each problem of the zoo

`tp.sample(tp.zoo.get(name), seed={seed}, draws={draws})` and `result.plot()`, with the verdict
that the run got.

{zoo}"""


def main() -> None:
    """Draw what was asked for, and write the page."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--only", nargs="+", choices=tp.zoo.names(), help="problems to draw anew; no plots")
    only = asked.parse_args().only
    FOLDER.mkdir(parents=True, exist_ok=True)
    facts = json.loads(FACTS.read_text(encoding="utf-8")) if only else made_with()
    if not only:
        facts["plots"] = draw_plots()
    drawn = {name: draw_problem(name) for name in only or tp.zoo.names()}
    facts["zoo"] = {**facts.get("zoo", {}), **drawn}
    FACTS.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(page(facts), encoding="utf-8")


def made_with() -> dict[str, Any]:
    """Seed, versions and date."""
    versions = {"Python": platform.python_version(), **{name: metadata.version(name) for name in PACKAGES}}
    versions["temperance"] = tp.__version__
    return {"seed": SEED, "draws": DRAWS, "versions": versions, "date": f"{datetime.date.today()}"}


def draw_plots() -> dict[str, Any]:
    """Every plot of one run; the file and the first line of the function's own words."""
    result = run_demo(seed=SEED, draws=DRAWS, progress=False)
    made = {}
    for name in tp.plots.__all__:
        plot = getattr(tp.plots, name)
        words = plot.__doc__.partition("\n")[0]
        made[name] = {"file": saved(plot(result).figure, f"plot_{name}", DPI["plot"]), "words": words}
    return made


def draw_problem(name: str) -> dict[str, Any]:
    """The answer to one problem; the file, and what is said beneath it."""
    sys.stdout.write(f"{name}\n")
    sys.stdout.flush()
    problem = tp.zoo.get(name)
    result = tp.sample(problem, seed=SEED, draws=DRAWS, progress=False)
    if not result.complete:
        raise SystemExit(f"{name}: ended by {result.ended_by}")
    file = saved(result.plot(), f"zoo_{name}", DPI["zoo"])
    return {"file": file, "problem": problem.name, "dim": problem.dim, "verdict": result.verdict}


def saved(figure: Any, stem: str, dpi: int) -> str:
    """Write a figure as PNG or SVG, whichever is smaller, and say under which name."""
    from PIL import Image

    raster, lines = io.BytesIO(), io.BytesIO()
    figure.savefig(raster, format="png", dpi=dpi)
    few = Image.open(raster).convert("RGB").quantize(INKS, dither=Image.Dither.NONE)
    png = io.BytesIO()
    few.save(png, format="png", optimize=True)
    figure.savefig(lines, format="svg", dpi=dpi, metadata={"Date": None})
    pyplot().close(figure)
    for old in FOLDER.glob(f"{stem}.*"):
        old.unlink()
    kind, data = min(("png", png.getvalue()), ("svg", lines.getvalue()), key=lambda one: len(one[1]))
    (FOLDER / f"{stem}.{kind}").write_bytes(data)
    return f"{stem}.{kind}"


def page(facts: dict[str, Any]) -> str:
    """The page, from what was drawn."""
    plots = "\n".join(
        f"### {name}\n\n{one['words']}\n\n{picture(f'The plot {name}', one['file'])}\n"
        for name, one in facts["plots"].items()
    )
    zoo = "\n".join(
        f"### {name}\n\n{one['problem'][0].upper()}{one['problem'][1:]}, in {one['dim']} "
        f"dimension{'s' * (one['dim'] > 1)}. Verdict: {one['verdict']}\n\n"
        f"{picture(f'The answer to {name}', one['file'])}\n"
        for name, one in sorted(facts["zoo"].items())
    )
    versions = ", ".join(f"{name} {version}" for name, version in facts["versions"].items())
    text = {"versions": versions, "touching": touching(), "plots": plots, "zoo": zoo.rstrip("\n") + "\n"}
    answer = picture("Parameters by mode, weights, ladder and flow", facts["zoo"]["twenty_peaks"]["file"])
    return HEAD.format(**{**facts, **text, "answer": answer})


def touching() -> str:
    """What the two nearest of the twenty peaks have to do with each other."""
    peaks = tp.zoo.get("twenty_peaks")
    apart = np.linalg.norm(peaks.modes[:, None] - peaks.modes, axis=2)
    np.fill_diagonal(apart, np.inf)
    first, second = np.unravel_index(np.argmin(apart), apart.shape)
    between, top = (
        peaks.log_density(point)
        for point in (0.5 * (peaks.modes[first] + peaks.modes[second]), peaks.modes[first])
    )
    distance = apart[first, second]
    return (
        f"two of the peaks are {distance:.2f} apart, {distance / WIDTH:.1f} of their standard\n"
        f"deviations, and the density between them is {100 * np.exp(between - top):.0f} % of that at their "
        "tops"
    )


def picture(words: str, file: str) -> str:
    """A picture on the page."""
    return f"![{words}](images/gallery/{file})"


if __name__ == "__main__":
    main()
