"""Settings of the site for Sphinx; `python -m docs.site.build` builds it."""

import inspect
import os
import re
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.ext.napoleon import Config, GoogleDocstring
from sphinx.util.inspect import TypeAliasForwardRef, stringify_signature

from verifyplan.field_docs import field_docs
from verifyplan.version import VERSION

project, author, version = "verifyplan", "The verifyplan authors", VERSION
copyright = "The verifyplan authors"
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx_copybutton"]
exclude_patterns = ["README.md", "**/.ipynb_checkpoints"]  # of the README the first pages are made
highlight_language = "none"  # of blocks that name none: trees of files scroll; `py` colours Python that no test runs
default_role = "code"  # docstrings have names between single backticks
suppress_warnings = ["ref.python"]  # a word between backticks may be the name of several fields

myst_heading_anchors = 4
myst_disable_syntax = ["myst_line_comment", "myst_block_break"]  # a line may begin with "%" or "+++"
nb_execution_mode = os.environ.get("VERIFYPLAN_EXECUTE", "force")
NOTEBOOKS = {path.stem for path in (Path(__file__).resolve().parents[2] / "notebooks").glob("*.ipynb")}
NOT_EXECUTED = "Built without running the notebooks: no output is shown; <code>make docs</code> runs them."
nb_execution_timeout = 300
nb_execution_raise_on_error = True
nb_execution_show_tb = True
nb_merge_streams = True
nb_render_markdown_format = "gfm"  # reports that cells show have tables
nb_ipywidgets_js: dict[str, Any] = {}  # widgets are shown as they show themselves without a kernel; no script is loaded
_RENDERED = ("text/html", "image/svg+xml", "image/png", "text/markdown", "text/plain")
nb_mime_priority_overrides = [
    ("html", "application/vnd.jupyter.widget-view+json", None),
    ("html", "application/javascript", None),
    *(("html", mime, place) for place, mime in enumerate(_RENDERED)),
]

autodoc_typehints = "signature"
autodoc_type_aliases = {name: name for name in ("Runs", "Sink", "Event")}  # the pages say what these are
autodoc_member_order = "bysource"
autodoc_default_options = {"exclude-members": "model_config"}  # pydantic's own
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 90
copybutton_exclude = ".linenos, .gp, .go"

html_theme = "pydata_sphinx_theme"
html_title = "verifyplan"
html_static_path = [str(Path(__file__).parent / "static")]
html_css_files, html_js_files = ["site.css"], ["site.js"]
html_show_sourcelink = False
html_copy_source = False
html_sidebars: dict[str, list[str]] = {"index": [], "start": [], "gallery": []}
html_theme_options = {
    "navbar_align": "left",
    "header_links_before_dropdown": 8,
    "navbar_end": ["theme-switcher"],
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_toc_level": 2,
    "announcement": NOT_EXECUTED if nb_execution_mode == "off" else "",
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}


TypeAliasForwardRef.__repr__ = lambda alias: alias.name  # type: ignore[method-assign]  # signatures and types show it

_PREPARED = re.compile(r"~?[\w.]+\.Prepared(?=CrossRun|PlanRun|Debate)")
_WIDGET = "(*args: t.Any, **kwargs: t.Any)"
_PROTOCOL = "(*args, **kwargs)"
_ANNOTATED = re.compile(r"~?(?:\w+\.)*Annotated\[")
_RECORD = re.compile(r" = \w+\((?=\w+=)")
_PAGE = re.compile(r"(?<![\w/`'\"@])docs/([\w-]+)\.md\b")
LONG_VALUE = 60
"""Characters from which the value of a field is left out."""


class _Docstring(GoogleDocstring):
    """A docstring whose section Returns is a text: the words before its first colon name no type."""

    def _consume_returns_section(self, *_settings: Any, **_named: Any) -> list[tuple[str, str, list[str]]]:
        return [("", "", self._dedent(self._consume_to_next_section()))]


def sections_of_docstring(_app: Any, what: str, name: str, value: object, _options: Any, lines: list[str]) -> None:
    """Rewrite the sections of docstrings (Args, Returns) for Sphinx, and cut the list of fields of a class.

    The site shows each field by itself, and the fields of models, which have descriptions, as parameters. What stands
    in the first line of a field's text before a colon is no type, for which napoleon would take it: fields are left as
    they are.
    """
    if what in ("attribute", "data", "property"):
        return
    if what in ("class", "exception") and "Fields:" in lines:
        del lines[lines.index("Fields:") :]
    fields = getattr(value, "model_fields", {}) if what == "class" else {}
    below = field_docs(value) if fields else {}  # in the code, where a description would be sent to models
    said = {field: about.description or below.get(field) for field, about in fields.items()}
    meant = [f":param {field}: {text}" for field, text in said.items() if text]
    if meant:
        lines += ["", *meant, ""]
    lines[:] = _Docstring(lines, Config(), what=what, name=name, obj=value).lines()


def link_pages(_app: Any, _what: str, _name: str, _value: object, _options: Any, lines: list[str]) -> None:
    """Make links of the pages that a docstring names by their files, such as docs/statistics.md."""
    lines[:] = [_PAGE.sub(r":doc:`docs/\1.md </docs/\1>`", line) for line in lines]


def without_parameters(_app: Any, what: str, name: str, value: object = None, *_rest: Any) -> tuple[str, str] | None:
    """Leave out the parameters of classes that nobody makes by hand: results, RunSet and protocols."""
    unmade = name.startswith(("verifyplan.results.", "verifyplan.RunSet")) or getattr(value, "_is_protocol", False)
    return ("", "") if what == "class" and unmade else None


def plain_types(
    _app: Any, _what: str, _name: str, value: Any, _options: Any, signature: str | None, returned: str | None
) -> tuple[str, str] | None:
    """Name types as the code and its callers do: values without pydantic's checks, runs that calls return."""
    texts = (signature or "", returned or "")
    if texts[0] == _WIDGET:  # traitlets hides the signature
        own = inspect.signature(value.__init__)
        parameters = list(own.parameters.values())[1:]
        texts = (stringify_signature(own.replace(parameters=parameters, return_annotation=own.empty)), "")
    elif texts[0] == _PROTOCOL:
        texts = ("", "")
    plain = [_PREPARED.sub("~verifyplan.results.", without_fields(without_metadata(text))) for text in texts]
    return (plain[0], plain[1]) if tuple(plain) != (signature or "", returned or "") else None


def without_fields(text: str) -> str:
    """Return a signature without the fields of records that are defaults.

    >>> without_fields("(panel: Panel = Panel(rules=Rules(mode=None), n=2), limit: Limit = Limit(n=1))")
    '(panel: Panel = Panel(...), limit: Limit = Limit(...))'
    """
    while found := _RECORD.search(text):
        text = text[: found.end()] + "..." + text[closing(text, found.end()) :]
    return text


def closing(text: str, start: int) -> int:
    """Return the place of the bracket that closes the one just before `start`."""
    depth, end = 0, start
    while depth or text[end] not in "])}":
        depth += (text[end] in "[({") - (text[end] in "])}")
        end += 1
    return end


def without_long_values(_app: Any, doctree: nodes.document) -> None:
    """Leave out the long values of fields, such as all presets of rules, which nobody reads in a heading."""
    for note in list(doctree.findall(addnodes.desc_annotation)):
        if note.astext().startswith(" = ") and len(note.astext()) > LONG_VALUE:
            note.parent.remove(note)


def without_metadata(text: str) -> str:
    """Return a signature with the type alone in place of each `Annotated[type, ...]`.

    >>> without_metadata("(n: ~typing.Annotated[int | ~typing.Annotated[str, Tag(x=[1])], Ge(ge=1)] = 0)")
    '(n: int | str = 0)'
    """
    while found := _ANNOTATED.search(text):
        depth, comma, end = 0, 0, found.end()
        while depth >= 0:
            sign = text[end]
            depth += (sign in "[({") - (sign in "])}")
            comma = comma or end * (sign == "," and depth == 0)
            end += 1
        text = text[: found.start()] + text[found.end() : comma or end - 1] + text[end:]
    return text


def link_notebooks(app: Any, doctree: nodes.document, page: str) -> None:
    """Make each name of a notebook in code type a link to it, but for what is a link already."""
    for literal in list(doctree.findall(nodes.literal)):
        name = literal.astext()
        if name in NOTEBOOKS and not isinstance(literal.parent, nodes.reference):
            address = app.builder.get_relative_uri(page, f"notebooks/{name}")
            literal.replace_self(nodes.reference("", "", literal.deepcopy(), internal=True, refuri=address))


def setup(app: Any) -> None:
    """Connect them to the events of Sphinx and autodoc."""
    app.connect("doctree-read", without_long_values)
    app.connect("doctree-resolved", link_notebooks)
    app.connect("autodoc-process-docstring", sections_of_docstring)
    app.connect("autodoc-process-docstring", link_pages)
    app.connect("autodoc-process-signature", without_parameters)
    app.connect("autodoc-process-signature", plain_types)
