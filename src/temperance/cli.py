"""The command line: parses, calls, prints. The only module that prints."""

import importlib
import sys
from pathlib import Path
from typing import Any

import click

INTERRUPTED = 130  # what a shell expects of a program ended by Ctrl-C


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="temperance")
def main() -> None:
    """Sample densities with many modes, by adaptive parallel tempering."""


@main.command()
@click.option("--seed", default=1, show_default=True, help="Seed of the run.")
@click.option("--draws", default=10_000, show_default=True, help="Draws a chain.")
@click.option(
    "--out",
    default="out",
    show_default=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder of the figure.",
)
def demo(seed: int, draws: int, out: Path) -> None:
    """Sample twenty peaks in the plane and compare with the exact answer."""
    from temperance.demo import run_demo

    click.echo("Twenty peaks in the plane, five levels, four chains.")
    click.echo("(The first run compiles the sampler, once, which takes some 20 seconds.)", err=True)
    result, text, path = _reporting_errors(lambda: run_demo(seed=seed, draws=draws, out=out))
    click.echo(f"\n{result}\n\n{text}\n\nfigure: {path}")
    _exit(result)


@main.command()
@click.argument("function", metavar="MODULE:FUNCTION")
@click.option(
    "--initial",
    default=None,
    help="The start: numbers separated by commas, or MODULE:FUNCTION. Needed but for zoo:NAME.",
)
@click.option("--draws", default=5_000, show_default=True, help="Draws a chain.")
@click.option("--tune", default=None, type=int, help="Tuning iterations a chain.")
@click.option("--chains", default=4, show_default=True, help="Independent runs.")
@click.option("--cores", default=None, type=int, help="Chains that run at once.")
@click.option("--levels", default=None, type=int, help="Levels at the start.")
@click.option("--seed", default=None, type=int, help="Seed of the run.")
@click.option("--vectorized", is_flag=True, help="FUNCTION takes the rows of an (n, dim) array.")
@click.option(
    "--out",
    default=None,
    type=click.Path(path_type=Path, dir_okay=False, writable=True),
    help="Write the run to this .npz file, for temperance report and NumPy.",
)
def sample(function: str, initial: str | None, out: Path | None, **options: Any) -> None:
    """Sample the log density FUNCTION of MODULE, found in the current folder or installed.

    zoo:NAME is a target of temperance.zoo, such as zoo:twenty_peaks.
    """
    import temperance

    if out is not None and not out.resolve().parent.is_dir():
        raise click.ClickException(f"--out: the folder {out.resolve().parent} does not exist")
    target, its_start = _target(function)
    if initial is None and its_start is None:
        raise click.UsageError("Missing option '--initial': only targets of the zoo know where to start.")
    start = its_start if initial is None else _load(initial) if ":" in initial else _numbers(initial)
    result = _reporting_errors(lambda: temperance.sample(**target, initial=start, **options))
    click.echo(str(result))
    if out is not None:
        _save(result, out)
    _exit(result)


@main.command()
@click.argument("run", metavar="RUN", type=click.Path(path_type=Path, dir_okay=False, exists=True))
@click.option(
    "--out",
    default=None,
    type=click.Path(path_type=Path, dir_okay=False, writable=True),
    help="The page to write; RUN with the ending .html by default.",
)
@click.option("--title", default=None, help="The heading of the page; the name of RUN by default.")
def report(run: Path, out: Path | None, title: str | None) -> None:
    """Write a page about RUN, a file that sample --out wrote: verdict, warnings, tables, figures."""
    import temperance

    result = _reporting_errors(lambda: temperance.Result.load(run))
    page = run.with_suffix(".html") if out is None else out
    path = _reporting_errors(lambda: result.report(page, title=run.stem if title is None else title))
    click.echo(f"{result.verdict}\nreport: {path}")


@main.command()
@click.argument("items", nargs=-1, metavar="ITEM...")
@click.option("--runs", default=None, type=int, help="Runs a cell; as many as in the paper by default.")
@click.option("--seed", default=1, show_default=True, help="Seed of all runs.")
@click.option("--cores", default=None, type=int, help="Runs at once; never changes the numbers.")
@click.option(
    "--out",
    default=None,
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder of runs and results; out/ITEM by default.",
)
@click.option("--continue", "go_on", is_flag=True, help="Go on with the runs that the folder holds.")
@click.option("--overwrite", is_flag=True, help="Throw away the runs that the folder holds.")
def reproduce(items: tuple[str, ...], out: Path | None, go_on: bool, overwrite: bool, **options: Any) -> None:
    """Make the paper's tables and figures anew: table1 … table7, trimming, figure1 … figure6, or all."""
    from temperance.paper import reproduce as make

    if go_on and overwrite:
        raise click.UsageError("--continue and --overwrite exclude each other")
    existing: Any = "continue" if go_on else "overwrite" if overwrite else "refuse"
    folder = Path("out") / "-".join(items or ("all",)) if out is None else out
    made = _reporting_errors(lambda: make(items, out=folder, existing=existing, **options))
    for text in made.texts:
        click.echo(f"{text}\n")
    if not made.complete:
        click.echo(f"Stopped; the finished runs are in {folder}. Go on with --continue.", err=True)
        sys.exit(INTERRUPTED)
    click.echo("\n".join(f"wrote {path}" for path in made.files))


def _target(reference: str) -> tuple[dict[str, Any], Any]:
    """The log density that a reference names and its data, and where to start if it knows."""
    import temperance

    module, _, name = reference.partition(":")
    if module != "zoo":
        return {"log_density": _load(reference)}, None
    problem = _reporting_errors(lambda: temperance.zoo.get(name))
    return {"log_density": problem.log_density, "data": problem.data}, problem.start


def _load(reference: str) -> Any:
    """The object that ``module:name`` names."""
    module_name, _, name = reference.partition(":")
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        return getattr(importlib.import_module(module_name), name)
    except (ImportError, AttributeError, TypeError, ValueError) as error:
        raise click.ClickException(
            f"{reference!r} must name a function as MODULE:FUNCTION: {error}"
        ) from error


def _numbers(text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError as error:
        raise click.BadParameter(f"numbers separated by commas are expected, got {text!r}") from error


def _reporting_errors(call: Any) -> Any:
    """Turn our errors into one line instead of a traceback."""
    from temperance.errors import TemperanceError

    try:
        return call()
    except TemperanceError as error:
        cause = f" ({type(error.__cause__).__name__}: {error.__cause__})" if error.__cause__ else ""
        raise click.ClickException(f"{error}{cause}") from error


def _save(result: Any, out: Path) -> None:
    try:
        path = _reporting_errors(lambda: result.save(out))
    except OSError as error:
        raise click.ClickException(f"--out: {out} cannot be written: {error}") from error
    click.echo(f"\ndraws (chain, draw, dim), log_density (chain, draw) and the rest of the run: {path}")


def _exit(result: Any) -> None:
    if not result.complete:
        sys.exit(INTERRUPTED)
