"""Chromium without a network, for tests of pages."""

import shutil

import pytest

CHROMIUM = [shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome")]
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def opened_browser():
    """A browser for as long as a fixture lasts; without one, its test is skipped."""
    playwright = pytest.importorskip("playwright.sync_api")
    path = next((path for path in CHROMIUM if path), None)
    if path is None:
        pytest.skip("no Chromium; make test-all installs it")
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=path, args=FLAGS)
        yield opened
        opened.close()


def is_outside(url, path):
    """Whether a page asked for more than itself."""
    return url != path.as_uri() and not url.startswith("data:")
