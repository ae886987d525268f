"""One self-contained page about a run: no network, no script, figures inline."""

from temperance.results.report.page import write_report

__all__ = ["write_report"]
