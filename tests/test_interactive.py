"""The page to step through: it says what was recorded, and works in a browser without a network."""

import importlib.util
import json
import re
from pathlib import Path

import numpy as np
import pytest

from browsing import is_outside, opened_browser
from records import make_result

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "interactive" / "twenty_peaks.html"
MAX_BYTES = 400_000
MADE = re.compile(r"Seed \d+, one chain of \d+ draws .*; temperance \S+, Python .*; \d{4}-\d\d-\d\d")


def tool():
    spec = importlib.util.spec_from_file_location("interactive", ROOT / "tools" / "interactive.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def text():
    return PAGE.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def data(text):
    return json.loads(re.search(r'type="application/json">(.*?)</script>', text, re.DOTALL)[1])


def test_the_page_is_small_and_says_how_it_was_made(text):
    assert len(text.encode()) < MAX_BYTES
    assert MADE.search(text)
    assert "{{" not in text


def test_nothing_is_fetched(text):
    assert "default-src 'none'" in text
    assert not re.findall(r"""(?:src|href)=|url\(|@import|https?://""", text)


def test_the_page_is_what_the_template_makes_of_its_data(text, data):
    """A template that was changed without the page would show."""
    facts = re.search(r"<footer>(.*?)</footer>", text)[1]
    assert tool().page(data, facts) == text


def test_recordings_are_consistent(data):
    """Replicas are permutations, they move by the exchanges that are told, and jumps end where they say."""
    for run in data["recordings"]:
        n_levels = len(run["temperatures"])
        for k, (row, exchanged) in enumerate(zip(run["replicas"], run["exchanged"], strict=True)):
            assert sorted(row) == [str(level) for level in range(n_levels)]
            expected = list(run["replicas"][max(k - 1, 0)])
            for lower in exchanged:
                expected[lower : lower + 2] = expected[lower + 1], expected[lower]
            assert "".join(expected) == row
        rows = zip(run["jumps"], run["proposals"], run["positions"], strict=True)
        for jump, proposal, positions in rows:
            assert (jump == 0) == (proposal == [])
            if jump == 2:
                assert proposal in [positions[2 * level : 2 * level + 2] for level in range(n_levels)]


def test_recorded_points_lie_in_the_picture(text, data):
    """A frame that was too small for a hot level would leave its panel empty."""
    low, side = (int(found) for found in re.search(r"LOW = (-?\d+), SIDE = (\d+)", text).groups())
    for run in data["recordings"]:
        points = np.array(run["positions"]) / data["unit"]
        assert np.mean((points > low) & (points < low + side)) > 0.98


def test_one_recording_has_jumps_and_both_have_swaps(data):
    without, default = data["recordings"]
    assert not any(without["jumps"])
    assert {1, 2} <= set(default["jumps"])
    assert all(any(run["exchanged"]) for run in data["recordings"])


def test_exchanges_are_those_of_the_replicas(rng):
    trace = make_result(rng, n_chains=1, n_draws=200, n_tune=10, n_levels=5).chains[0].sampling
    pairs = tool().exchanged(trace.replica)
    moved = (np.diff(trace.replica, axis=0) != 0).sum(axis=1)
    assert [2 * len(one) for one in pairs] == [0, *moved.tolist()]


# ---- in a browser


@pytest.fixture
def browser():
    yield from opened_browser()


def opened(browser, width=1280, scheme="light"):
    """The page, and a list of whatever goes wrong on it."""
    context = browser.new_context(offline=True, viewport={"width": width, "height": 900}, color_scheme=scheme)
    tab, troubles = context.new_page(), []
    tab.on("console", lambda message: troubles.append(message.text))
    tab.on("pageerror", lambda error: troubles.append(str(error)))
    tab.on("request", lambda request: troubles.append(request.url) if is_outside(request.url, PAGE) else None)
    tab.goto(PAGE.as_uri())
    return tab, troubles


def step(tab):
    return int(tab.evaluate("document.body.dataset.step"))


def wait_beyond(tab, wanted):
    """Until the page has gone that far; its policy lets nobody wait inside it."""
    for _ in range(200):
        if step(tab) > wanted:
            return
        tab.wait_for_timeout(50)
    raise AssertionError(f"still at {step(tab)}")


def painted(tab, canvas):
    """How many pixels of a canvas are not empty."""
    return tab.evaluate(
        "id => { const c = document.getElementById(id);"
        " return c.getContext('2d').getImageData(0, 0, c.width, c.height).data"
        ".filter((v, k) => k % 4 === 3 && v > 0).length }",
        canvas,
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("width", "scheme"), [(1280, "light"), (1280, "dark"), (360, "light"), (360, "dark")]
)
def test_it_fits_and_draws(browser, data, width, scheme):
    tab, troubles = opened(browser, width, scheme)
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    for level in range(len(data["recordings"][0]["temperatures"])):
        assert tab.locator(f"#panel-{level}").is_visible()
        assert painted(tab, f"level-{level}") > 500
    assert painted(tab, "paths") > 100
    dark = tab.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 24, 29)"
    assert dark == (scheme == "dark")
    assert troubles == []


@pytest.mark.slow
def test_steps_go_forward_and_back_and_not_beyond_the_ends(browser, data):
    tab, troubles = opened(browser)
    assert step(tab) == 0
    tab.click("#back")
    assert step(tab) == 0
    for wanted in (1, 2, 3):
        tab.click("#forward")
        assert step(tab) == wanted
    before = tab.locator("#news").inner_text()
    tab.click("#back")
    assert step(tab) == 2
    tab.click("#forward")
    assert tab.locator("#news").inner_text() == before
    tab.click("h1")
    tab.keyboard.press("ArrowRight")
    assert step(tab) == 4
    tab.keyboard.press("ArrowLeft")
    assert step(tab) == 3
    last = len(data["recordings"][0]["positions"]) - 1
    tab.fill("#step", str(last))
    tab.click("#forward")
    assert step(tab) == last
    assert tab.locator("#position").inner_text() == f"draw {last + 1} of {last + 1}"
    tab.click("#first")
    assert step(tab) == 0
    assert troubles == []


@pytest.mark.slow
def test_it_plays_and_pauses(browser):
    tab, troubles = opened(browser)
    tab.select_option("#speed", "30")
    tab.click("#play")
    wait_beyond(tab, 5)
    assert tab.locator("#play").inner_text() == "Pause"
    tab.click("#play")
    stopped = step(tab)
    tab.wait_for_timeout(400)
    assert step(tab) == stopped
    assert tab.locator("#play").inner_text() == "Play"
    tab.click("h1")
    tab.keyboard.press(" ")
    wait_beyond(tab, stopped + 2)
    tab.keyboard.press(" ")
    assert troubles == []


@pytest.mark.slow
def test_swaps_and_jumps_are_shown_where_they_happened(browser, data):
    """Next swap and next jump stop where the recording has them, and say so."""
    tab, troubles = opened(browser)
    run = data["recordings"][0]
    first = next(k for k, pairs in enumerate(run["exchanged"]) if pairs)
    tab.click("#next-swap")
    assert step(tab) == first
    lower = run["exchanged"][first][0]
    assert f"Levels {lower + 1} and {lower + 2} exchanged" in tab.locator("#news").inner_text()
    assert "swapped" in tab.locator(f"#edge-{lower}").get_attribute("class")
    assert tab.locator(".edge.swapped").count() == len(run["exchanged"][first])
    assert tab.locator("#next-jump").is_disabled()
    tab.check("#run-1")
    assert step(tab) == 0
    run = data["recordings"][1]
    tab.click("#next-jump")
    assert step(tab) == next(k for k, jump in enumerate(run["jumps"]) if jump and k > 0)
    assert "jump" in tab.locator("#news").inner_text()
    resting = sum(level >= run["moved"][step(tab)] for level in range(len(run["temperatures"])))
    assert tab.locator(".panel.resting").count() == resting
    assert troubles == []


@pytest.mark.slow
def test_levels_can_be_hidden_and_shown(browser):
    tab, troubles = opened(browser)
    n_levels = tab.locator(".panel").count()
    tab.uncheck("#show-1")
    assert not tab.locator("#panel-1").is_visible()
    assert tab.locator(".panel:visible").count() == n_levels - 1 >= 2
    tab.click("#forward")
    assert not tab.locator("#panel-1").is_visible()
    for level in (0, *range(2, n_levels)):
        tab.uncheck(f"#show-{level}")
    assert tab.locator(".edge:visible").count() == 0
    tab.check("#show-1")
    assert tab.locator("#panel-1").is_visible()
    assert painted(tab, "level-1") > 500
    assert troubles == []
