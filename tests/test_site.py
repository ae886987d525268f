"""The site: it is built without a warning, all that is public is in it, and it is read without a network."""

import importlib.util
import inspect
import re
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

import temperance
from browsing import opened_browser
from temperance import diagnostics, moves, numpyro, plots, priors, pymc, swaps, targets, zoo

ROOT = Path(__file__).parent.parent
REFERENCE = ROOT / "docs" / "reference"
# A module of public names, what the inventory calls it, and the pages that have examples of them.
PUBLIC = {
    "temperance": (temperance, "temperance", ("sampling", "settings", "results", "errors")),
    "priors": (priors, "temperance.priors", ("priors",)),
    "swaps": (swaps, "temperance.swaps", ("swaps",)),
    "moves": (moves, "temperance.moves", ("moves",)),
    "targets": (targets, "temperance.targets", ("targets",)),
    "zoo": (zoo, "temperance.zoo", ("zoo",)),
    "diagnostics": (diagnostics, "temperance.results.diagnostics", ("diagnostics",)),
    "plots": (plots, "temperance.results.plots", ("plots",)),
    "pymc": (pymc, "temperance.pymc", ("frontends",)),
    "numpyro": (numpyro, "temperance.numpyro", ("frontends",)),
}
FOR_CONTRIBUTORS = {"Bound", "Buffers", "Functions", "RoomyTarget", "read_only"}  # of targets: no example

each_module = pytest.mark.parametrize("name", PUBLIC)


def public_names(module):
    return [name for name in module.__all__ if not inspect.ismodule(getattr(module, name))]


def examples(pages):
    texts = [(REFERENCE / f"{page}.md").read_text(encoding="utf-8") for page in pages]
    return "\n".join(found for text in texts for found in re.findall(r"```python\n(.*?)```", text, re.S))


@each_module
def test_every_public_name_has_an_example(name):
    """`test_docs.py` runs them."""
    module, _, pages = PUBLIC[name]
    shown = set(re.findall(r"\w+", examples(pages)))
    assert set(public_names(module)) - FOR_CONTRIBUTORS <= shown


def tool(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def test_links_that_lead_nowhere_are_found(tmp_path):
    (tmp_path / "a.html").write_text(
        '<a href="b.html#there">x</a><a href="b.html#gone">x</a><a href="c.html">x</a><a href="#">x</a>'
        '<a href="https://example.org">x</a><script src="https://example.org/x.js"></script>'
        '<img src="data:image/png;base64,AA"><link rel="canonical" href="https://example.org">'
    )
    (tmp_path / "b.html").write_text('<p id="there">')
    assert tool("check_site").troubles(tmp_path) == [
        "a.html: fetches https://example.org/x.js",
        "a.html: b.html#gone leads nowhere",
        "a.html: c.html leads nowhere",
    ]


def test_a_site_without_pages_is_no_site(tmp_path):
    assert tool("check_site").troubles(tmp_path) == [f"{tmp_path}: no pages"]


# ---- built

BUILD = ("-m", "sphinx", "-b", "html", "--fail-on-warning", "--keep-going", "--quiet")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    if importlib.util.find_spec("sphinx") is None:
        pytest.skip("no Sphinx; make test-all installs it")
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, *BUILD, str(ROOT / "docs"), str(folder)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return folder


def inventory(site):
    """The names that the reference defines, from objects.inv: four lines, then compressed ones."""
    packed = (site / "objects.inv").read_bytes().split(b"\n", 4)[4]
    return {line.split(" ")[0] for line in zlib.decompress(packed).decode().splitlines()}


@pytest.mark.slow
def test_all_links_lead_somewhere_and_nothing_is_fetched(site):
    assert tool("check_site").troubles(site) == []


@pytest.mark.slow
@each_module
def test_all_that_is_public_is_in_the_reference(site, name):
    module, path, _ = PUBLIC[name]
    known = inventory(site)
    missing = [one for one in public_names(module) if f"{path}.{one}" not in known]
    if name == "temperance":  # errors are described where they are defined
        missing = [one for one in missing if f"temperance.errors.{one}" not in known]
    assert missing == []


# ---- in a browser

# Wide and narrow, light and dark.
LOOKS = [(1280, "light"), (1280, "dark"), (360, "light"), (360, "dark")]


@pytest.fixture(scope="module")
def browser():
    yield from opened_browser()


@pytest.mark.slow
@pytest.mark.parametrize(("width", "scheme"), LOOKS)
def test_every_page_in_a_browser(site, browser, width, scheme):
    """No errors, no requests to anybody, no sideways scrolling, pictures that are there."""
    assert faults(browser, site, width, scheme) == []


@pytest.mark.slow
def test_a_bad_page_would_be_seen(browser, tmp_path):
    (tmp_path / "bad.html").write_text(
        '<div style="width: 2000px">wide</div><img src="gone.png"><script src="http://localhost:9/x.js"></script>'
        "<script>throw new Error('broken')</script>"
    )
    seen = {what for _, what in faults(browser, tmp_path, 1280, "light")}
    gone = (tmp_path / "gone.png").as_uri()
    assert seen == {"scrolls sideways", gone, "http://localhost:9/x.js", "broken"}


def faults(browser, site, width, scheme):
    """Of every page, with its address."""
    context = browser.new_context(offline=True, viewport={"width": width, "height": 800}, color_scheme=scheme)
    tab, found, asked = context.new_page(), [], []
    tab.on("pageerror", lambda error: found.append((tab.url, str(error))))
    tab.on("request", lambda request: asked.append((tab.url, request.url)))
    for page in sorted(site.rglob("*.html")):
        tab.goto(page.as_uri())
        if tab.evaluate("document.documentElement.scrollWidth") > width:
            found.append((tab.url, "scrolls sideways"))
        blank = "[...document.images].filter(i => i.complete && !i.naturalWidth).map(i => i.src)"
        found += [(tab.url, source) for source in tab.evaluate(blank)]
    context.close()
    return found + [pair for pair in asked if is_outside(pair[1])]


def is_outside(url):
    return not url.startswith(("file:", "data:", "blob:"))


@pytest.mark.slow
def test_search_works_from_a_file(site, browser):
    tab = browser.new_context(offline=True).new_page()
    tab.goto((site / "search.html").as_uri() + "?q=communication+barrier")
    tab.wait_for_selector("#search-results li a", timeout=20_000)
    found = tab.locator("#search-results li a").all_inner_texts()
    assert any("Glossary" in one for one in found)


@pytest.mark.slow
def test_formulas_are_set_without_a_network(site, browser):
    tab = browser.new_context(offline=True).new_page()
    tab.goto((site / "tutorial" / "paper.html").as_uri())
    tab.wait_for_selector("mjx-container", timeout=30_000)
