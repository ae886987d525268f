"""How Sphinx makes the site out of these pages: ``make site``. Nothing is fetched, now or later."""

import re
from pathlib import Path
from typing import Any, ClassVar

import click
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from temperance import __version__
from temperance.cli import main

project = "temperance"
author = "the authors of temperance"
release = version = __version__
extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx-mathjax-offline",
]
exclude_patterns = ["**.ipynb_checkpoints", "jumps/screening.md"]  # a part of another page
highlight_language = "text"
default_role = "py:obj"  # a name in single backticks is looked for in the reference

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4
nb_merge_streams = True
nb_execution_mode = "off"  # notebooks are shipped with their output, which the tests compare

autodoc_mock_imports = ["bilby"]
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_class_signature = "mixed"
autodoc_preserve_defaults = True
python_display_short_literal_types = True
python_maximum_signature_line_length = 88
add_module_names = False
napoleon_use_ivar = True  # types stand in the signature
napoleon_use_param = False  # parameters that are described together stay together
napoleon_use_rtype = False

html_theme = "furo"
html_title = f"temperance {release}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
html_last_updated_fmt = None

# Files of the repository that have a page here.
ELSEWHERE = {"README": "index", "CHANGELOG": "changelog", "CONTRIBUTING": "contributing"}

LINK = re.compile(r"\[([^\]]+)\]\(([^)\s#]+)\)")


def towards_pages(_app: Any, name: str, source: list[str]) -> None:
    """Links to files above this folder lead to the pages that show them."""
    up = "../" * name.count("/")
    here = (Path(__file__).parent / name).parent
    for file, page in ELSEWHERE.items():
        source[0] = re.sub(rf"\]\((?:\.\./)+{file}\.md", f"]({up}{page}.md", source[0])
    # A folder has no page: its link is left to readers of the repository.
    source[0] = LINK.sub(lambda link: link[1] if (here / link[2]).is_dir() else link[0], source[0])


def included(_app: Any, _path: Any, _parent: str, source: list[str]) -> None:
    """The same for what is included: its links start at the top of the repository."""
    for file, page in ELSEWHERE.items():
        source[0] = source[0].replace(f"]({file}.md", f"]({page}.md")
    source[0] = re.sub(r"\]\(docs/", "](", source[0])
    source[0] = source[0].replace("](LICENSE)", "](../LICENSE)")


ARRAY = re.compile(r"~?(?:numpy\.)?ndarray\[tuple\[[^\]]*\], ~?(?:numpy\.)?dtype\[~?(?:numpy\.)?(\w+)\]\]")
REFUSED = re.compile(r", \*\*_unknown: [~.\w]+")  # taken only to say which keyword was meant
OF = {"float64": "FloatArray", "int64": "IntArray", "bool": "BoolArray"}


def read_well(_app: Any, _kind: str, _name: str, _object: Any, _options: Any, *parts: Any) -> tuple[Any, ...]:
    """Signatures of what can be given, with short names: of arrays ours, of others without their modules."""
    kept = [part and REFUSED.sub("", part) for part in parts]
    short = [part and ARRAY.sub(lambda found: OF.get(found[1], found[0]), part) for part in kept]
    return tuple(part and re.sub(r"~[\w.]+\.(\w+)", r"\1", part) for part in short)


class Help(SphinxDirective):
    """All commands, each with what ``--help`` prints."""

    has_content: ClassVar[bool] = True

    def run(self) -> list[nodes.Node]:
        """A section for each command."""
        commands = {"temperance": main, **{f"temperance {name}": one for name, one in main.commands.items()}}
        return [self.section(name, command) for name, command in commands.items()]

    def section(self, name: str, command: click.Command) -> nodes.section:
        """The name as its heading, and the text."""
        text = command.get_help(click.Context(command, info_name=name, max_content_width=88))
        made = nodes.section(ids=[nodes.make_id(name)])
        made += nodes.title("", name)
        made += nodes.literal_block(text, text, language="text")
        return made


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.add_directive("temperance-help", Help)
    app.connect("autodoc-process-signature", read_well)
    app.connect("source-read", towards_pages)
    app.connect("include-read", included)
