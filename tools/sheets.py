"""Contact sheets of the site: every page wide and narrow, light and dark, as images to look through.

Run with ``make sheets``, which builds the site first and takes some minutes.
"""

import argparse
import io
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw
from playwright.sync_api import sync_playwright

LOOKS = {"wide": 1280, "narrow": 390}
SCHEMES = ("light", "dark")
ACROSS = {"wide": 6, "narrow": 10}  # pages in a row
COLUMN = {"wide": 330, "narrow": 200}  # pixels of a page on a sheet
TALLEST = 1_500  # pixels of a page on a sheet; what is below is cut off
LABEL = 14


def main() -> None:
    """One image for each look, scheme, and row of pages."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("site", type=Path)
    asked.add_argument("out", type=Path)
    given = asked.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    pages = sorted(path for path in given.site.rglob("*.html") if "_static" not in path.parts)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for look in LOOKS:
            for scheme in SCHEMES:
                shots = [(page, shot(browser, page, look, scheme)) for page in pages]
                for number, row in enumerate(rows(shots, ACROSS[look])):
                    sheet(row, given.site, look).save(given.out / f"{look}-{scheme}-{number}.png")
        browser.close()


def shot(browser: Any, page: Path, look: str, scheme: str) -> Image.Image:
    """One page from top to bottom, made smaller."""
    context = browser.new_context(
        viewport={"width": LOOKS[look], "height": 900}, color_scheme=scheme, offline=True
    )
    tab = context.new_page()
    tab.goto(page.resolve().as_uri())
    tab.wait_for_timeout(300)
    overflow = tab.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    if overflow > 0:
        sys.stdout.write(f"{page.name}: {overflow} pixels too wide ({look}, {scheme})\n")
    whole = Image.open(io.BytesIO(tab.screenshot(full_page=True))).convert("RGB")
    context.close()
    width = COLUMN[look]
    height = min(whole.height, TALLEST * whole.width // width)
    cut = whole.crop((0, 0, whole.width, height))
    return cut.resize((width, max(1, height * width // whole.width)), Image.Resampling.LANCZOS)


def rows(shots: list[Any], size: int) -> Iterator[list[Any]]:
    """So many at a time."""
    for first in range(0, len(shots), size):
        yield shots[first : first + size]


def sheet(row: list[tuple[Path, Image.Image]], site: Path, look: str) -> Image.Image:
    """Pages beside each other, each with its name."""
    tallest = max(image.height for _, image in row)
    made = Image.new("RGB", (len(row) * (COLUMN[look] + 6), tallest + LABEL), "grey")
    draw = ImageDraw.Draw(made)
    for place, (page, image) in enumerate(row):
        left = place * (COLUMN[look] + 6)
        draw.text((left, 1), str(page.relative_to(site)), fill="white")
        made.paste(image, (left, LABEL))
    return made


if __name__ == "__main__":
    main()
