"""Settings of the site for Sphinx; `python -m docs.site.build` builds it."""

import os
from pathlib import Path
from typing import Any

from verifyplan.version import VERSION

project, author, version = "verifyplan", "The verifyplan authors", VERSION
copyright = "The verifyplan authors"
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]
exclude_patterns = ["README.md", "**/.ipynb_checkpoints"]  # of the README the first pages are made
default_role = "code"  # docstrings have names between single backticks
suppress_warnings = ["ref.python"]  # a word between backticks may be the name of several fields

myst_heading_anchors = 4
nb_execution_mode = os.environ.get("VERIFYPLAN_EXECUTE", "force")
nb_execution_timeout = 300
nb_execution_raise_on_error = True
nb_execution_show_tb = True
nb_merge_streams = True
nb_ipywidgets_js: dict[str, Any] = {}  # widgets are shown as they show themselves without a kernel; no script is loaded
_RENDERED = ("text/html", "image/svg+xml", "image/png", "text/markdown", "text/plain")
nb_mime_priority_overrides = [
    ("html", "application/vnd.jupyter.widget-view+json", None),
    ("html", "application/javascript", None),
    *(("html", mime, place) for place, mime in enumerate(_RENDERED)),
]

autodoc_typehints = "signature"
autodoc_member_order = "bysource"
napoleon_use_rtype = False
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 90
copybutton_exclude = ".linenos, .gp, .go"

html_theme = "pydata_sphinx_theme"
html_title = "verifyplan"
html_static_path = [str(Path(__file__).parent / "static")]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_sidebars = {"index": []}
html_theme_options = {
    "navbar_align": "left",
    "header_links_before_dropdown": 8,
    "navbar_end": ["theme-switcher"],
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_toc_level": 2,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}


def plain_docstring(_app: Any, what: str, _name: str, _value: object, _options: Any, lines: list[str]) -> None:
    """Cut the list of fields from the help of a class, as each is shown by itself; keep colons in that of a field.

    Napoleon would take what stands before a colon in the first line of a field's text for its type.
    """
    if what in ("class", "exception") and "Fields:" in lines:
        del lines[lines.index("Fields:") :]
    if what in ("attribute", "data", "property"):
        lines.insert(0, "")


def without_parameters(_app: Any, what: str, name: str, *_rest: Any) -> tuple[str, str] | None:
    """Leave out the parameters of result classes, which nobody makes by hand and which repeat the fields."""
    return ("", "") if what == "class" and name.startswith("verifyplan.results.") else None


def setup(app: Any) -> None:
    """Connect both to the events of autodoc."""
    app.connect("autodoc-process-docstring", plain_docstring, priority=400)  # before napoleon reads it
    app.connect("autodoc-process-signature", without_parameters)
