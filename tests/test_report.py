"""The report: one page with everything in it, and nothing that it would have to fetch."""

import re
import sys
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from click.testing import CliRunner

import temperance as tp
from browsing import is_outside, opened_browser
from conftest import SUITE_SEED
from records import make_result, with_draws
from temperance.cli import main
from temperance.results.report import page
from temperance.results.report.figures import Figure, inline_svg
from temperance.results.show import levels_line

SECTIONS = ["verdict", "warnings", "parameters", "modes", "chains", "levels", "figures", "settings", "run"]
FIGURES = [
    "corner",
    "weights",
    "scales",
    "occupancy",
    "trace",
    "ranks",
    "ladder",
    "history",
    "levels",
    "acceptance",
    "paths",
    "flow",
    "barrier",
]
MAX_BYTES = 900_000


class Page(HTMLParser):
    """What a test asks of a page."""

    def __init__(self, text):
        super().__init__()
        self.sections, self.ids, self.links, self.labels, self.tags = [], [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.tags.append(tag)
        if tag == "section":
            self.sections.append(given["id"])
        if "id" in given:
            self.ids.append(given["id"])
        if tag == "svg":
            self.labels.append(given.get("aria-label"))
        names = ("src", "href", "xlink:href", "srcset", "action")
        self.links += [given[name] for name in names if given.get(name) and not given[name].startswith("#")]


@pytest.fixture(scope="module")
def result():
    return make_result(np.random.default_rng(SUITE_SEED), n_draws=200, n_tune=100)


@pytest.fixture(scope="module")
def text(result, tmp_path_factory):
    return result.report(tmp_path_factory.mktemp("report") / "run.html").read_text(encoding="utf-8")


@pytest.fixture
def no_figures(monkeypatch):
    """For tests of other things: figures take long."""
    monkeypatch.setattr(page, "inline_svg", lambda figure, result: "")


def test_all_sections_in_their_order_verdict_first(text, result):
    assert Page(text).sections == SECTIONS
    assert text.index(result.verdict) < text.index('id="parameters"')


def test_how_widely_was_searched_stands_by_the_verdict_and_numbers_before_what_is_about_the_sampler(
    text, result
):
    places = [f"<p>{result.searched}</p>", 'id="parameters"', "<td>", f"<p>{levels_line(result)}</p>"]
    found = [text.index(place) for place in places]
    assert found == sorted(found)
    assert found[-1] < text.index('id="modes"')


def test_figures_are_inline_with_their_own_ids_and_words(text):
    found = Page(text)
    assert [name.removeprefix("figure-") for name in found.ids if name.startswith("figure-")] == [
        *FIGURES,
        "panels",
    ]
    assert len(found.labels) == len(FIGURES) + 1
    assert all(label and len(label) > 30 for label in found.labels)
    assert len(found.ids) == len(set(found.ids)), "ids of one figure would style another"


def test_numbers_that_people_read_keep_their_digits(text, result):
    """Places in the drawing are rounded, and ticks and weights are not: 0.125 is not 0.12."""
    weights = Figure(
        name="one", title="One", caption="Two.", draw=lambda shown, ax: ax.set_xticks([0.5], ["0.125"])
    )
    svg = inline_svg(weights, result)
    assert ">0.125<" in svg
    assert not re.search(r'x="\d+\.\d{3}', svg)


def test_nothing_is_fetched_and_nothing_runs(text):
    found = Page(text)
    assert [link for link in found.links if not link.startswith("data:image/png;base64,")] == []
    assert "script" not in found.tags
    assert "default-src 'none'" in text
    assert not re.findall(r"@import|url\((?!#)", text)


def test_a_few_hundred_kilobytes(rng, tmp_path):
    wide = make_result(rng, n_draws=5_000, n_tune=5_000, dim=20, n_levels=9)
    assert wide.report(tmp_path / "run.html").stat().st_size < MAX_BYTES


def test_names_and_titles_are_escaped(result, tmp_path, no_figures):
    named = result.named(["<b>bold</b>", "a&b"])
    text = named.report(tmp_path / "run.html", title="<script>alert(1)</script>").read_text(encoding="utf-8")
    assert "<b>bold</b>" not in text
    assert "&lt;b&gt;bold&lt;/b&gt;" in text
    assert "script" not in Page(text).tags


def test_warnings_are_shown_with_their_cures(result, tmp_path, no_figures):
    apart = with_draws(result, result.draws + 20.0 * np.arange(4)[:, None, None])
    text = apart.report(tmp_path / "run.html").read_text(encoding="utf-8")
    for warning in apart.warnings:
        assert f"<h3>{warning.name}</h3>" in text
        assert warning.cure in text
    assert '<section id="verdict" class="serious">' in text


def test_settings_seed_and_versions_are_there(text, result):
    for name in ("bounds.temperature_gap", "seed", "python", "temperance"):
        assert f"<dt>{name}</dt>" in text


def test_priors_are_named(no_figures, tmp_path):
    priors = {"rate": tp.priors.gamma(2, 4), "place": tp.priors.normal(0, 1, shape=2)}
    model = tp.Model(lambda p: -p["rate"] - np.sum(p["place"] ** 2), parameters=priors)
    quick = {"draws": 50, "tune": 50, "chains": 1, "levels": 2, "seed": 1, "progress": False}
    made = tp.sample(model, store=tmp_path / "run", **quick)
    tp.resume(tmp_path / "run", model, draws=60, progress=False)
    stored = tp.load(made.save(tmp_path / "run.npz"))
    for shown in (made, tp.load(tmp_path / "run"), stored):
        text = shown.report(tmp_path / "run.html", overwrite=True).read_text()
        assert "priors" in Page(text).sections
        assert re.search(r"<dt>rate</dt><dd>gamma\(2, 4\)</dd>", text)
        assert re.search(r"<dt>place</dt><dd>normal\(0, 1\)</dd>", text)


def test_ink_follows_the_page(text):
    assert "currentColor" in text
    assert "#010203" not in text


def test_without_hot_levels_there_are_no_panels(rng, tmp_path, no_figures):
    text = (
        make_result(rng, n_draws=50, n_tune=20, keep_levels=False)
        .report(tmp_path / "r.html")
        .read_text("utf-8")
    )
    assert "figure-panels" not in text


@pytest.mark.parametrize("module", ["jinja2", "matplotlib"])
def test_what_is_missing_says_what_to_install(result, tmp_path, monkeypatch, module):
    """All that a report needs, by names that the index of packages has."""
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(tp.TemperanceError, match=r"report needs .*: .* pip install matplotlib jinja2$"):
        result.report(tmp_path / "run.html")
    assert list(tmp_path.iterdir()) == []


def test_a_missing_folder_is_named(result, tmp_path):
    with pytest.raises(tp.InvalidInputError, match=r"folder .*nowhere does not exist"):
        result.report(tmp_path / "nowhere" / "run.html")


def test_a_page_is_not_replaced_without_leave(result, tmp_path, no_figures):
    path = tmp_path / "run.html"
    path.write_text("mine")
    with pytest.raises(tp.InvalidInputError, match=r"path: .*run\.html exists; .*overwrite=True"):
        result.report(path)
    assert path.read_text() == "mine"
    assert result.report(path, overwrite=True).read_text(encoding="utf-8") != "mine"
    assert list(tmp_path.iterdir()) == [path]


# ---- the command


def run(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def test_the_command_writes_a_page_beside_the_run(result, tmp_path, no_figures):
    path = result.save(tmp_path / "run.npz")
    done = run("report", path)
    assert done.exit_code == 0, done.output
    assert (tmp_path / "run.html").is_file()
    assert done.output == f"{result.verdict}\nreport: {tmp_path / 'run.html'}\n"


def test_the_command_replaces_a_page_only_when_told(result, tmp_path, no_figures):
    path = result.save(tmp_path / "run.npz")
    assert run("report", path).exit_code == 0
    again = run("report", path)
    assert again.exit_code == 1
    assert re.fullmatch(r"Error: --out: .*run\.html exists; .*--overwrite\)\n", again.output)
    assert run("report", path, "--overwrite").exit_code == 0


def test_the_command_from_sampling_to_page(tmp_path, monkeypatch, no_figures):
    monkeypatch.chdir(tmp_path)
    few = ["--draws", "30", "--tune", "30", "--chains", "2", "--levels", "2", "--seed", "1"]
    assert run("sample", "zoo:two_modes", *few, "--out", "run.npz").exit_code == 0
    done = run("report", "run.npz", "--out", "page.html", "--title", "Two modes")
    assert done.exit_code == 0, done.output
    assert "<h1>Two modes</h1>" in (tmp_path / "page.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "message"), [("run.npz", "is damaged, or no result"), ("absent.npz", "does not exist")]
)
def test_the_command_refuses_other_files(tmp_path, name, message):
    (tmp_path / "run.npz").write_text("no")
    done = run("report", tmp_path / name)
    assert done.exit_code in (1, 2)
    assert message in done.output
    assert "Traceback" not in done.output
    assert done.output.count("BadZipFile") == (name == "run.npz"), "the cause is said once"


def test_the_command_names_the_option_of_a_page_that_cannot_be_written(result, tmp_path):
    done = run("report", result.save(tmp_path / "run.npz"), "--out", tmp_path / "nowhere" / "page.html")
    assert done.exit_code == 1
    assert done.output.startswith(f"Error: --out: the folder {tmp_path / 'nowhere'} does not exist")


# ---- in a browser


@pytest.fixture
def browser():
    yield from opened_browser()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("width", "scheme"), [(1280, "light"), (1280, "dark"), (360, "light"), (360, "dark")]
)
def test_in_a_browser(browser, result, tmp_path, width, scheme):
    """No errors, no requests, no sideways scrolling, all sections and figures to be seen."""
    poor = replace(result.named(["a_rather_long_name_of_a_parameter", "b"]), complete=False)
    path = poor.report(tmp_path / "run.html")
    context = browser.new_context(offline=True, viewport={"width": width, "height": 800}, color_scheme=scheme)
    tab, troubles = context.new_page(), []
    tab.on("console", lambda message: troubles.append(message.text))
    tab.on("pageerror", lambda error: troubles.append(str(error)))
    tab.on("request", lambda request: troubles.append(request.url) if is_outside(request.url, path) else None)
    tab.goto(path.as_uri())
    for name in SECTIONS:
        assert tab.locator(f"section#{name}").is_visible()
    for figure in tab.locator("svg.figure").all():
        box = figure.bounding_box()
        assert box["width"] > 200
        assert box["height"] > 80
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    dark = tab.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 24, 29)"
    assert dark == (scheme == "dark")
    assert troubles == []


@pytest.mark.slow
def test_a_request_would_be_seen(browser, tmp_path):
    """The listener of the test above hears what a careless page would do."""
    path = tmp_path / "page.html"
    path.write_text('<img src="http://localhost:9/picture.png">')
    tab, requests = browser.new_context(offline=True).new_page(), []
    tab.on("request", lambda request: requests.append(request.url) if is_outside(request.url, path) else None)
    tab.goto(path.as_uri())
    assert requests


@pytest.mark.slow
def test_on_paper(browser, result, tmp_path):
    path = result.report(tmp_path / "run.html")
    tab = browser.new_context(offline=True).new_page()
    tab.goto(path.as_uri())
    tab.pdf(path=tmp_path / "run.pdf", format="A4")
    assert (tmp_path / "run.pdf").read_bytes().startswith(b"%PDF")
