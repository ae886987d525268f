"""The command line: parses, calls, prints. The only module that prints."""

import contextlib
import io
import itertools
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click

from temperance.arguments import (
    INTERRUPTED,
    data_from,
    goals_from,
    named_model,
    named_object,
    numbers_from,
    one_line_errors,
    search_from,
    with_data,
)

# What a shell expects of a program that a signal ended: 128 and its number.
ENDED_BY = {"SIGINT": 130, "SIGTERM": 143, "SIGHUP": 129}
GOALS_MISSED = 3  # a run that came to its end, and not to its goals
FOLLOW_SECONDS = 2.0
DASK_SECONDS = 20.0  # in which a scheduler must answer
KEPT_LETTERS = 50  # of up to four bytes each, where a name may have 255


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="temperance")
def main() -> None:
    """Sample densities with many modes, by adaptive parallel tempering."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a terminal may lack letters of a table or a name


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
    from temperance.demo import comparison, draw_demo, run_demo

    with one_line_errors(f"--out: {out}"):
        out.mkdir(parents=True, exist_ok=True)
    click.echo("Twenty peaks in the plane, five levels, four chains.")
    click.echo("(The first run compiles the sampler, once, which takes some 20 seconds.)", err=True)
    with one_line_errors():
        result = run_demo(seed=seed, draws=draws)
    click.echo(f"\n{result}\n")
    if result.draws.size:
        click.echo(f"{comparison(result)}\n")
        click.echo(_figure_or_reason(lambda: draw_demo(result, out)))
    _exit(result)


@main.command()
@click.argument("function", metavar="MODULE:FUNCTION")
@click.option(
    "--initial",
    default=None,
    help="The start: numbers separated by commas, or MODULE:FUNCTION. A model may know its own.",
)
@click.option(
    "--data",
    default=None,
    type=click.Path(path_type=Path, dir_okay=False),
    help="What FUNCTION takes beside its parameters: an array from .npy or .csv, a tuple of them from .npz.",
)
@click.option("--draws", default=5_000, show_default=True, help="Draws a chain.")
@click.option(
    "--until",
    default=None,
    help="Goals and budgets, such as ess=2000,weight_error=0.01,seconds=600: draw until all goals are met or "
    "a budget is spent.",
)
@click.option(
    "--search",
    default=None,
    help="Climb from scattered points as well: -10:10 for all coordinates, rate=0:5,place=-1:1 by name, "
    "or prior.",
)
@click.option("--tune", default=None, type=int, help="Tuning iterations a chain.")
@click.option(
    "--chains",
    default=4,
    show_default=True,
    help="Runs with a ladder each, which learn from each other while tuning.",
)
@click.option("--cores", default=None, type=int, help="Chains that run at once.")
@click.option("--workers", default=None, type=int, help="Processes that evaluate FUNCTION.")
@click.option("--dask", default=None, help="Address of a Dask scheduler, whose workers evaluate FUNCTION.")
@click.option("--levels", default=None, type=int, help="Levels at the start.")
@click.option("--seed", default=None, type=int, help="Seed of the run.")
@click.option("--vectorized", is_flag=True, help="FUNCTION takes the rows of an (n, dim) array.")
@click.option("--thin", default=1, show_default=True, help="Keep one draw of so many.")
@click.option(
    "--keep",
    default=None,
    help="Of draws, statistics, proposals, levels: what to keep, such as draws,statistics.  "
    "[default: all but levels]",
)
@click.option(
    "--out",
    default=None,
    help="Write the run to this .npz file, also a run that fails; or to a folder (its name ends with /) "
    "while it goes on, for temperance resume.",
)
@click.option("--overwrite", is_flag=True, help="Replace a file or a run of that name.")
@click.option(
    "--continue",
    "go_on",
    is_flag=True,
    help="Go on with the run that the folder of --out holds, if there is one, so that jobs that follow each "
    "other can give the same command.",
)
def sample(
    function: str,
    initial: str | None,
    data: Path | None,
    out: str | None,
    overwrite: bool,
    go_on: bool,
    **options: Any,
) -> None:
    """Sample the log density or model FUNCTION of MODULE, found in the current folder or installed.

    zoo:NAME is a target of temperance.zoo, such as zoo:twenty_peaks.
    """
    import temperance
    from temperance.continuing import options_to_resume
    from temperance.files import require_writable
    from temperance.results.storage import npz_path

    folder = Path(out) if out is not None and _is_folder(out) else None
    if go_on and (folder is None or overwrite):
        raise click.UsageError("--continue needs a folder, --out NAME/, and excludes --overwrite")
    file = None if out is None or folder is not None else Path(out)
    if file is not None:
        with one_line_errors():
            require_writable(npz_path(file), overwrite=overwrite, name="--out")
    model = named_model(function)
    if data is not None:
        model, options = with_data(model, data_from(data), options)
    start = None if initial is None else named_object(initial) if ":" in initial else numbers_from(initial)
    options["until"] = goals_from(options["until"])
    options["search"] = search_from(options["search"])
    options["keep"] = None if options["keep"] is None else tuple(options["keep"].split(","))
    with _keeping_draws(file, overwrite), one_line_errors(), _workers(options, function):
        if go_on and folder is not None and temperance.holds_run(folder):
            result = temperance.resume(folder, model, **options_to_resume(folder, options))
        else:
            result = temperance.sample(model, initial=start, store=folder, overwrite=overwrite, **options)
    click.echo(str(result))
    if file is not None:
        path = _save(result, file, overwrite)
        click.echo(f"\n{_contents(result)}, log_density (chain, draw) and the rest of the run: {path}")
    if folder is not None:
        click.echo(f"\nthe run: {out}")
    _exit(result)


def _is_folder(out: str) -> bool:
    """Whether a place is one for a folder: it is one, or its name says so."""
    return out.endswith(("/", os.sep)) or Path(out).is_dir()


@main.command()
@click.argument("run", metavar="RUN", type=click.Path(file_okay=False, exists=True))
@click.argument("function", metavar="[MODULE:FUNCTION]", default=None, required=False)
@click.option("--draws", default=None, type=int, help="Draws a chain, those made before included.")
@click.option(
    "--until",
    default=None,
    help="Goals and budgets, such as ess=2000,weight_error=0.01,seconds=600: draw until all goals are met or "
    "a budget is spent.",
)
@click.option("--cores", default=None, type=int, help="Chains that run at once.")
@click.option("--workers", default=None, type=int, help="Processes that evaluate FUNCTION.")
@click.option("--dask", default=None, help="Address of a Dask scheduler, whose workers evaluate FUNCTION.")
@click.option("--vectorized", is_flag=True, help="FUNCTION takes the rows of an (n, dim) array.")
@click.option(
    "--data", default=None, type=click.Path(path_type=Path, dir_okay=False), help="As in temperance sample."
)
def resume(run: str, function: str | None, data: Path | None, **options: Any) -> None:
    """Go on with RUN, a folder that sample --out wrote to, as if it had never been stopped.

    FUNCTION is the log density or model again; without it, the one of the name that the run was made with.
    """
    import temperance
    from temperance.stored import stored_reference

    options["until"] = goals_from(options["until"])
    with one_line_errors():
        named = function or stored_reference(Path(run))
    model = None if named is None or (function is None and named.startswith("zoo:")) else named_model(named)
    if data is not None:
        model, options = with_data(model, data_from(data), options)
    with one_line_errors(), _workers(options, named or ""):
        result = temperance.resume(run, model, **options)
    click.echo(f"{result}\n\nthe run: {run}")
    _exit(result)


@main.command()
@click.argument("run", metavar="RUN", type=click.Path(path_type=Path, exists=True))
@click.option("--follow", is_flag=True, help="Look again every two seconds, until the run ends.")
def info(run: Path, follow: bool) -> None:
    """Say where RUN stands, a folder that a run is written to, also by another process; or a file."""
    import temperance
    from temperance.stored import standing

    if not run.is_dir():
        with one_line_errors():
            click.echo(str(temperance.load(run)))
        return
    shown = ""
    while True:
        with one_line_errors():
            now = standing(run)
        if now.text != shown:
            click.echo(now.text)
            shown = now.text
        if not follow or not now.is_running:
            return
        time.sleep(FOLLOW_SECONDS)


@main.command()
@click.argument("run", metavar="RUN", type=click.Path(path_type=Path, exists=True))
@click.option(
    "--out",
    default=None,
    type=click.Path(path_type=Path, dir_okay=False, writable=True),
    help="The page to write; RUN with the ending .html by default.",
)
@click.option("--title", default=None, help="The heading of the page; the name of RUN by default.")
@click.option("--overwrite", is_flag=True, help="Replace a page of that name.")
def report(run: Path, out: Path | None, title: str | None, overwrite: bool) -> None:
    """Write a page about RUN, a file or folder of sample --out: verdict, warnings, tables, figures."""
    import temperance
    from temperance.files import require_writable

    page = run.with_suffix(".html") if out is None else out
    heading = run.stem if title is None else title
    with one_line_errors(f"--out: {page}"):
        require_writable(page, overwrite=overwrite, name="--out")
        result = temperance.load(run)
        path = result.report(page, title=heading, overwrite=overwrite)
    click.echo(f"{result.verdict}\nreport: {path}")


@main.command()
@click.argument(
    "runs", metavar="RUN...", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True)
)
@click.option(
    "--out", default=None, type=click.Path(path_type=Path), help="Write the result to this .npz file."
)
@click.option("--overwrite", is_flag=True, help="Replace a file of that name.")
def combine(runs: tuple[Path, ...], out: Path | None, overwrite: bool) -> None:
    """Put the chains of several RUNs into one result: files and folders, of one model and different seeds."""
    import temperance
    from temperance.files import require_writable
    from temperance.results.storage import npz_path

    with one_line_errors():
        if out is not None:
            require_writable(npz_path(out), overwrite=overwrite, name="--out")
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always", temperance.IncompleteWarning)
            result = temperance.Result.concatenate([temperance.load(run) for run in runs])
    for one in told:
        click.echo(f"Warning: {one.message} (RUNs are numbered as they were given)", err=True)
    click.echo(str(result))
    if out is not None:
        click.echo(f"\nall runs: {_save(result, out, overwrite)}")


@main.command()
@click.argument("name", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="All warnings, as the page of the docs.")
def explain(name: tuple[str, ...], everything: bool) -> None:
    """Say what the warning or cause NAME means, and what helps; without NAME, which there are."""
    from temperance.results.warnings.explained import CAUSES, EXPLAINED, explained, page

    asked = " ".join(name)
    if everything:
        click.echo(page(), nl=False)
    elif not asked:
        click.echo("\n".join({**EXPLAINED, **CAUSES}))
    elif asked in EXPLAINED or asked in CAUSES:
        click.echo(explained(asked))
    else:
        raise click.ClickException(f"NAME must be one of {', '.join({**EXPLAINED, **CAUSES})}; got {asked!r}")


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
    """Run the paper's tables and figures again: table1 … table7, trimming, figure1 … figure6, or all."""
    from temperance.paper import reproduce as make

    if go_on and overwrite:
        raise click.UsageError("--continue and --overwrite exclude each other")
    existing: Any = "continue" if go_on else "overwrite" if overwrite else "refuse"
    folder = Path("out") / "-".join(items or ("all",)) if out is None else out
    with one_line_errors():
        made = make(items, out=folder, existing=existing, **options)
    for text in made.texts:
        click.echo(f"{text}\n")
    if not made.complete:
        click.echo(f"Stopped; the finished runs are in {folder}. Go on with --continue.", err=True)
        sys.exit(INTERRUPTED)
    click.echo("\n".join(f"wrote {path}" for path in made.files))


@contextlib.contextmanager
def _workers(options: dict[str, Any], reference: str) -> Iterator[None]:
    """Turn the options about workers into the pool of the run, which is open meanwhile."""
    from temperance.extras import needed

    number, address = options.pop("workers"), options.pop("dask")
    if address is None:
        options["pool"] = number
        yield
        return
    if number is not None:
        raise click.UsageError("--workers and --dask exclude each other")
    distributed, cloudpickle = needed("--dask needs", "distributed", "cloudpickle")
    module = sys.modules.get(reference.partition(":")[0])
    if module is not None:
        cloudpickle.register_pickle_by_value(module)  # it may be nowhere but here
    try:
        client = distributed.Client(address, timeout=DASK_SECONDS)
    except (OSError, ValueError) as error:
        raise click.ClickException(f"--dask: there is no scheduler at {address}: {error}") from error
    with client:
        options["pool"] = client
        yield


def _contents(result: Any) -> str:
    """What a file holds first of all."""
    if result.value_names is None:
        return "draws (chain, draw, dim)"
    return f"values of {', '.join(result.values)}, draws as they were sampled (chain, draw, dim)"


@contextlib.contextmanager
def _keeping_draws(out: Path | None, overwrite: bool) -> Iterator[None]:
    """Write what was drawn before an error, an exit or whatever else ended the run, and pass that on."""
    try:
        yield
    except BaseException as ended:
        result = getattr(ended, "result", None) or getattr(ended.__cause__, "result", None)
        if out is not None and result is not None:
            try:
                click.echo(f"What was drawn before is in {_save(result, out, overwrite)}", err=True)
            except click.ClickException as error:
                click.echo(error.message, err=True)
        raise


def _save(result: Any, out: Path, overwrite: bool) -> Path:
    """Write the run, beside what came to its place since the check before: draws are not to be lost."""
    from temperance.results.storage import npz_path

    place = npz_path(out)
    with one_line_errors(f"--out: {place}"):
        if place.is_dir() or (place.exists() and not overwrite):
            click.echo(f"--out: {place} appeared during the run and is left as it is", err=True)
            place = _free_name(place)
        path: Path = result.save(place, overwrite=overwrite)
    return path


def _free_name(taken: Path) -> Path:
    """A name beside another, short enough for every disk."""
    names = (f"{taken.stem[:KEPT_LETTERS]}-{k}{taken.suffix}" for k in itertools.count(1))
    return next(path for path in map(taken.with_name, names) if not path.exists())


def _figure_or_reason(draw: Callable[[], Path]) -> str:
    """Where a figure is, or why there is none: the draws are worth showing without."""
    from temperance.errors import TemperanceError

    try:
        return f"figure: {draw()}"
    except (TemperanceError, OSError) as error:
        return f"no figure: {error}"


def _exit(result: Any) -> None:
    if not result.complete:
        sys.exit(ENDED_BY.get(result.ended_by, INTERRUPTED))
    if result.reached is not None and not result.reached.met and result.reached.wanted:
        sys.exit(GOALS_MISSED)
