"""The four checkers of a claim about code: syntax tree, window, search and quotation (rule G2).

Each looks at the same evidence in its own way, and has its own limits:

- syntax tree: of several definitions of a name it takes the first; it looks at a body without the functions within it;
  it ignores inheritance, and files that are not Python.
- window: it does not see what is beyond the lines around the cited one, and takes what a neighbour in them does for
  the definition's own.
- search: a line convinces it whichever function it belongs to, and whether it is code or a comment; it does not find
  what is written otherwise than the claim writes it.
- quotation: a quotation that does not decide leaves it undecided, or, in another place, content with the right line;
  a quotation that was copied carelessly counts against the claim.
"""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from textwrap import dedent

from verifyplan.agents.static.claims import CodeClaim
from verifyplan.agents.static.judging import ClaimCase, Observation
from verifyplan.repository import sources
from verifyplan.repository.sources import DefinitionNode, Syntax

Lines = list[tuple[int, str]]
"""Lines with their numbers."""

MENTIONS = frozenset({"raises", "calls", "imports"})
"""Kinds of claims that one line shows, whichever definition it belongs to."""
LINES_BEFORE, LINES_AFTER, MAX_LINES = 6, 18, 80
"""Lines that the window shows above and below the cited lines, and in all."""

_MAX_LINE_CHARACTERS = 1000
_RAISES = re.compile(r"^\s*raise\s+([A-Za-z_][\w.]*)")


def check_syntax_tree(case: ClaimCase) -> Observation:
    """Parse the cited file and judge by its syntax tree; unknown where it does not hold what the claim is about.

    Quoted lines are read as far as they parse, and then say nothing of what they do not show.
    """
    claim, source = case.claim, case.source
    shown = source.path if source.whole else "the quoted text"
    syntax = source.syntax
    if not source.whole:
        header = sources.header(source.lines)
        tree = ast.Module([header], []) if header else sources.parse(dedent("\n".join(source.lines)))
        syntax = Syntax(ast.increment_lineno(tree, source.first - 1)) if tree else None
    if syntax is None:
        return Observation("unknown", f"{shown} is not Python that parses.")
    if claim.kind == "imports":
        return _imports_in_tree(case, syntax, shown)
    node = _find(syntax, claim.subject if source.whole else claim.subject.rpartition(".")[2], source.path)
    if node is None:
        return Observation("unknown", f"The syntax tree of {shown} holds no {claim.subject}.")
    seen = _mention_in_body(case, node) if claim.kind in {"raises", "calls"} else _definition_in_tree(case, node)
    first = min((decorator.lineno for decorator in node.decorator_list), default=node.lineno)
    if not source.whole or (first <= case.last and case.line <= (node.end_lineno or node.lineno)):
        return seen
    return replace(seen, note=f"The cited line {case.line} lies outside this definition.")


def _find(syntax: Syntax, subject: str, path: str) -> DefinitionNode | None:
    """Return the first definition of that name, qualified or not, without a leading name of the module itself."""
    parts = subject.split(".")
    module = path.rpartition(".")[0].replace("\\", "/").split("/")
    while len(parts) > 1 and parts[0] in module:
        parts = parts[1:]
    name = ".".join(parts)
    return next((node for q, node in syntax.definitions if q == name or q.endswith(f".{name}")), None)


def _definition_in_tree(case: ClaimCase, node: DefinitionNode) -> Observation:
    """Judge by the definition, or, of a class whose parameters are claimed, by its `__init__`."""
    if isinstance(node, ast.ClassDef) and case.claim.kind in {"parameter", "default"}:
        methods = (child for child in node.body if isinstance(child, ast.FunctionDef))
        init = next((method for method in methods if method.name == "__init__"), None)
        if init is None:
            why = f"The tree shows no parameters of {node.name} at {case.source.at(node.lineno)}."
            return Observation("unknown", why)
        node = init
    return _by_definition(case, node, node.lineno)


def _mention_in_body(case: ClaimCase, node: DefinitionNode) -> Observation:
    """Judge by what the body itself raises or calls, without the functions within it."""
    verb, detail = case.claim.kind, case.claim.detail
    mentions = (sources.raised if verb == "raises" else sources.called)(sources.own_nodes(node))
    if lines := [line for name, line in mentions if sources.same_name(detail, name)]:
        return Observation("yes", f"{node.name} {verb} {detail} at {case.source.at(min(lines))}.")
    if lines := [line for name, line in mentions if not name]:
        return Observation("unknown", f"What {case.source.at(min(lines))} {verb} is no plain name.")
    if not case.source.whole:
        return Observation("unknown", f"The quoted text shows no {detail} and may be incomplete.")
    return Observation("no", f"The body of {node.name} at {case.source.at(node.lineno)} itself {verb} no {detail}.")


def _imports_in_tree(case: ClaimCase, syntax: Syntax, shown: str) -> Observation:
    """Judge imports: at the top of the module they hold, `os.path` for `os`, too; in functions they hold in part."""
    claimed = case.claim.detail
    at_top, in_file = (
        [line for name, line in imports if f"{name}.".startswith(f"{claimed}.")] for imports in syntax.imports
    )
    if at_top:
        return Observation("yes", f"{case.source.at(min(at_top))} imports it.")
    if in_file:
        return Observation("partly", f"{case.source.at(min(in_file))} imports it, but only within a definition.")
    if not case.source.whole:
        return Observation("unknown", "The quoted text shows no such import, and is not the whole file.")
    return Observation("no", f"No import in {shown} names {claimed}; read from {case.source.at(1)} on.")


def check_window(case: ClaimCase) -> Observation:
    """Judge by the lines around the cited one, or by the quoted lines; unknown where they show too little."""
    claim, source = case.claim, case.source
    lines = source.numbered()
    if source.whole:
        start = max(case.line - LINES_BEFORE, 1)
        window = source.numbered(start, min(case.last + LINES_AFTER, start + MAX_LINES))
        lines = window if source.numbered(case.line, case.line) else []
    if not lines:
        return Observation("unknown", f"{source.path} has no line {case.line}.", looked=False)
    shown = f"lines {lines[0][0]}-{lines[-1][0]} around {source.at(case.line)}"
    defined = _defining(claim.subject, lines)
    if claim.kind in MENTIONS:
        if at := showing(claim, lines):
            return Observation("yes", f"{source.at(at[0])} {claim.kind} {claim.detail}, near the cited line.")
        if claim.kind == "imports" or not defined or not _ends(defined[0], lines):
            return Observation("unknown", f"The {shown} show no {claim.detail}, but may not show everything.")
        why = f"The {shown} show all of {claim.subject}, and nothing that {claim.kind} {claim.detail}."
        return Observation("no", why)
    if not defined:
        return Observation("unknown", f"The {shown} do not define {claim.subject}.")
    start = _nearest(defined, case.line)
    return _by_header(case, start, [line for number, line in lines if number >= start])


def _ends(start: int, lines: Lines) -> bool:
    """Whether the definition that begins at `start` seems to end in these lines: a later one is indented no deeper."""
    first, *later = [line for number, line in lines if number >= start and line.strip()]
    depth = len(first) - len(first.lstrip())
    return any(len(line) - len(line.lstrip()) <= depth and line.strip()[0] not in ")]}#" for line in later)


def check_search(case: ClaimCase) -> Observation:
    """Judge by the lines of the cited file, or of the quoted text, that hold the claim's names."""
    claim, source = case.claim, case.source
    searched = source.path if source.whole else "the quoted text"
    lines = source.numbered()
    defined = _defining(claim.subject, lines) if claim.subject else []
    if claim.kind in MENTIONS:
        if at := showing(claim, lines):
            return Observation("yes", f"{source.at(_nearest(at, case.line))} {claim.kind} {claim.detail}.")
        start = source.at(defined[0] if defined else source.first)
        known = source.whole and (defined or claim.kind == "imports")
        why = f"No line of {searched}, in which {start} was looked at, too, {claim.kind} {claim.detail}."
        return Observation("no" if known else "unknown", why)
    if not defined:
        return Observation("unknown", f"No line of {searched} defines {claim.subject}.")
    if claim.kind == "location":
        number = _nearest(defined, int(claim.detail or defined[0]))
        return _yes_or_no(claim.detail in {"", str(number)}, f"{source.at(number)} defines {claim.subject}.")
    headers = [(number, source.line(number)) for number in defined]
    one_line = all(line.rstrip().endswith(":") for _, line in headers)
    shown = showing(claim, headers) or ([] if one_line else showing(claim, lines))  # of a long header, any line
    if shown:
        place = source.at(_nearest(shown, case.line))
        return Observation("yes", f"{place} shows it, in a file that defines {claim.subject}.")
    place = source.at(_nearest(defined, case.line))
    detail = f"{claim.detail}={claim.value}" if claim.value else claim.detail
    why = f"{place} defines {claim.subject}, and no line searched shows {detail}."
    return Observation("no" if one_line or source.whole else "unknown", why)


def check_quotation(case: ClaimCase) -> Observation:
    """Judge by whether the quotation is at the cited place, and by what it says.

    Where no file is opened, the place is believed and only the quotation is judged.
    """
    if not case.quotes:
        return Observation("unknown", f"The evidence quotes nothing of {case.source.at(case.line)}.", looked=False)
    if not case.source.whole:
        return _by_quotation(case, case.line)
    lines, first, size = case.source.texts, case.quotes[0].strip(), len(case.quotes)
    begins = range(len(lines)) if first.endswith("...") else case.source.places.get(first, [])
    places = [  # where the whole quotation begins; its blank lines and its indentation do not matter
        lines[at][0]
        for at in begins
        if at + size <= len(lines)
        and all(is_line(quote, text) for quote, (_, text) in zip(case.quotes, lines[at : at + size], strict=True))
    ]
    if not places:
        line = min(case.line, len(case.source.lines))
        reads = f"{case.source.at(line)} reads: {case.source.line(line).strip()[:80] or 'nothing'}"
        return Observation("misquoted", f"The quoted text stands nowhere in the file; {reads}")
    cited = [number for number in places if case.line <= number <= case.last]
    if cited:
        return _by_quotation(case, cited[0])
    number = _nearest(places, case.line)
    seen = _by_quotation(case, number)
    note = f"The quoted text stands at {case.source.at(number)}, not at the cited line {case.line}."
    if seen.says == "unknown":
        return Observation("partly", f"{note} It does not speak against the claim.")
    return Observation(seen.says, seen.why, note)


def is_line(quote: str, line: str) -> bool:
    """Whether a quoted line is a line, spaces around it aside; one that ends in "..." may be its beginning."""
    quote, line = quote.strip(), line.strip()
    start = quote.removesuffix("...").rstrip()
    return quote == line or (quote.endswith("...") and len(start) > 3 and line.startswith(start))


def _by_quotation(case: ClaimCase, number: int) -> Observation:
    """Judge by the quoted lines; a quotation that raises something else speaks against the claim."""
    claim, place, quoted = case.claim, case.source.at(number), list(enumerate(case.quotes))
    if claim.kind not in MENTIONS:
        if _defining(claim.subject, quoted[:1]):
            return _by_header(case, number, list(case.quotes))
        return Observation("unknown", f"The text quoted from {place} does not define {claim.subject}.")
    if showing(claim, quoted):
        return Observation("yes", f"The text quoted from {place} {claim.kind} {claim.detail}.")
    other = next((match[1] for line in case.quotes if (match := _RAISES.match(line))), "")
    if claim.kind == "raises" and other:
        return Observation("no", f"The text quoted from {place} raises {other}, not {claim.detail}.")
    return Observation("unknown", f"The text quoted from {place} shows nothing that {claim.kind} {claim.detail}.")


def _by_header(case: ClaimCase, number: int, lines: list[str]) -> Observation:
    """Judge by the definition that begins on line `number`; unknown if `lines` end before its header does."""
    node = sources.header(lines)
    if node is None and case.claim.kind != "location":
        begins = case.source.at(number)
        return Observation("unknown", f"The definition that begins at {begins} is not shown to the end of its header.")
    return _by_definition(case, node, number)


def _by_definition(case: ClaimCase, node: DefinitionNode | None, number: int) -> Observation:
    """Judge by the definition on line `number`; its place is judged without a node."""
    claim, place = case.claim, case.source.at(number)
    if claim.kind == "location":
        return _yes_or_no(claim.detail in {"", str(number)}, f"{claim.subject} is defined at {place}.")
    if claim.kind == "base-class" and isinstance(node, ast.ClassDef):
        bases = sources.bases(node)
        listed = any(sources.same_name(claim.detail, base) for base in bases)
        return _yes_or_no(listed, f"{place} lists as bases: {', '.join(bases) or 'none'}.")
    if claim.kind == "base-class" or node is None or isinstance(node, ast.ClassDef):
        return Observation("unknown", f"What {place} defines has no such thing as the claim speaks of.")
    passed = sources.parameters(node).get(claim.detail)
    if passed is None:
        return Observation("no", f"{place} lists no parameter {claim.detail}.")
    if claim.kind == "default":
        value = sources.defaults(node).get(claim.detail)
        text = "no default" if value is None else f"the default {sources.unparsed(value)}"
        same = value is not None and (not claim.value or sources.same_expression(value, claim.value))
        return _yes_or_no(same, f"{place} gives {claim.detail} {text}.")
    return Observation("yes" if passed == "plain" else "partly", f"{place} lists {claim.detail}, {passed}.")


def _yes_or_no(holds: bool, why: str) -> Observation:
    return Observation("yes" if holds else "no", why)


def showing(claim: CodeClaim, lines: Lines) -> list[int]:
    """Return the numbers of the lines in which the claim's detail is raised, called, imported, set or mentioned.

    >>> showing(CodeClaim("raises", "f", "ValueError"), [(1, "def f():"), (2, "    raise ValueError(text)")])
    [2]
    """
    name = re.escape(claim.detail)
    start = r"(?<![\w.])" if "." in claim.detail else r"\b"
    value = rf"{re.escape(claim.value)}(?![\w.(\[])" if claim.value else ""
    patterns = {
        "raises": rf"\braise\s+(?:\w+\.){{0,3}}{name}\b",
        "calls": rf"(?<!def )(?<!class ){start}{name}\(",
        "imports": rf"^\s*(?:import\s+(?:.*[\s,])?|from\s+){name}\b",
        "default": rf"\b{name}\b(?::[^,=()]{{0,80}})?\s?=(?!=)\s?{value}",
    }
    pattern = re.compile(patterns.get(claim.kind, rf"\b{name}\b"))
    return [number for number, line in lines if pattern.search(line[:_MAX_LINE_CHARACTERS])]


def _defining(name: str, lines: Lines) -> list[int]:
    """Return the numbers of the lines that begin a definition of a name; of a dotted one, of its last part."""
    pattern = re.compile(rf"\s*(?:async\s+)?(?:def|class)\s+{re.escape(name.rpartition('.')[2])}\b")
    return [number for number, line in lines if pattern.match(line[:_MAX_LINE_CHARACTERS])]


def _nearest(numbers: list[int], line: int) -> int:
    """Return the number closest to a line; of two as close, the smaller."""
    return min(numbers, key=lambda number: (abs(number - line), number))
