"""Whether a built site holds together without a network: links lead somewhere, nothing is fetched.

Run by ``make site``: ``python tools/check_site.py out/site``.
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

FETCHED = {"script": "src", "img": "src", "link": "href", "source": "src", "iframe": "src"}
UNFETCHED = {"canonical", "author", "license"}  # links of a head that no browser follows


class Page(HTMLParser):
    """The anchors of a page, what it links to, and what a browser would fetch to show it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Called for each tag."""
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if tag in FETCHED and given.get(FETCHED[tag]) and given.get("rel") not in UNFETCHED:
            self.fetched.append(given[FETCHED[tag]])


def troubles(site: Path) -> list[str]:
    """What is wrong, in words; nothing where all is well."""
    pages = {path.resolve(): Page(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}
    found = [] if pages else [f"{site}: no pages"]
    for path, page in pages.items():
        where = path.relative_to(site.resolve())
        found += [f"{where}: fetches {url}" for url in page.fetched if is_outside(url)]
        local = [url for url in (*page.links, *page.fetched) if not is_outside(url)]
        found += [f"{where}: {url} leads nowhere" for url in local if not leads_somewhere(url, path, pages)]
    return found


def is_outside(url: str) -> bool:
    """Whether an address is not of this site; what an address itself contains is here."""
    parts = urlsplit(url)
    return bool(parts.netloc) or parts.scheme in ("http", "https", "mailto")


def leads_somewhere(url: str, page: Path, pages: dict[Path, Page]) -> bool:
    """Whether the file is there, and the place in it."""
    parts = urlsplit(url)
    if parts.scheme:
        return parts.scheme == "data"
    target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    if parts.fragment and target in pages:
        return unquote(parts.fragment) in pages[target].anchors
    return target.is_file()


def main() -> None:
    """Say what is wrong, and fail if anything is."""
    found = troubles(Path(sys.argv[1]))
    if found:
        raise SystemExit("\n".join(found))


if __name__ == "__main__":
    main()
