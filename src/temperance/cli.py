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
@click.option("--initial", required=True, help="The start: numbers separated by commas, or MODULE:FUNCTION.")
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
    help="Write the draws to this .npz file.",
)
def sample(function: str, initial: str, out: Path | None, **options: Any) -> None:
    """Sample the log density FUNCTION of MODULE, found in the current folder or installed."""
    import temperance

    if out is not None and not out.resolve().parent.is_dir():
        raise click.ClickException(f"--out: the folder {out.resolve().parent} does not exist")
    start = _load(initial) if ":" in initial else _numbers(initial)
    result = _reporting_errors(lambda: temperance.sample(_load(function), initial=start, **options))
    click.echo(str(result))
    if out is not None:
        _save(result, out)
    _exit(result)


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
    import numpy as np

    out = out if out.suffix == ".npz" else out.with_name(f"{out.name}.npz")
    np.savez_compressed(out, draws=result.draws, log_density=result.log_density)
    click.echo(f"\ndraws (chain, draw, dim) and log_density (chain, draw): {out}")


def _exit(result: Any) -> None:
    if not result.complete:
        sys.exit(INTERRUPTED)
