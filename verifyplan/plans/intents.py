"""What a plan says it does with a name: read from the nearest words that govern it."""

from __future__ import annotations

import re
from typing import NamedTuple

from verifyplan.plans.code_names import HIDDEN, Span, known_extension
from verifyplan.plans.markdown import Text
from verifyplan.plans.values import INTENTS, Intent
from verifyplan.plans.word_lists import words

_WORD = re.compile(r"[A-Za-z]+(?:['’-][A-Za-z]+)*")  # noqa: RUF001  (curly apostrophes are ordinary in prose)
_BOUNDARY = re.compile(r"[.!?;](?=[\s*_\"')\]])(?<!e\.g\.)(?<!i\.e\.)|\s(?:--?|[–—→]|[-=]>)\s|\n[ \t]*\n")  # noqa: RUF001
_ASIDE = re.compile(r"[\s*_]*\((?:(?:a|brand|the|to|be|will) ){0,3}(?P<word>[A-Za-z]+)(?= file|[),;:])")
_SAID_OF = re.compile(
    r"[\s*_]*(?:\w+\s+){0,2}?(?:is|are|was|will be|gets|should be|must be|to be)\s+(?:\w+\s+)?(?P<word>\w+)"
)
_PARTICIPLE = re.compile(r"[\s*_]+(?P<word>[a-z]+ed)\b")
_DASHED = re.compile(r"[\s*_]*(?:--?|[–—:])[\s*_]+(?P<word>[A-Za-z]+)(?P<rest>[^\0]{0,40})")  # noqa: RUF001
_MENTIONED = re.compile(
    r"[\s*_]*(?:calls?|imports?|invocations?|references?|usages?|uses)\b"
    r"|[\s,\0]*(?:and[\s\0]+)?to (?:\w+ ){0,2}imports?\b"
)
_DEFINED = re.compile(r"[\s*_]*(?:class|component|fixture|function|helper|interface|method|struct|test)\b")
_NEW_BEHIND = re.compile(r"[\s*_]*,[\s*_]+(?:a|the) (?:brand )?new (?:file|module|script|page|test)\b")
_TESTS = re.compile(r"\b(?:tests?|docs|documentation)\b", re.IGNORECASE)
_TEST_LABEL = re.compile(r"[\W_]*tests?[\s*_]*:[\W_]*", re.IGNORECASE)
_ENUMERATOR = re.compile(r"^\s*[a-z][.)]\s")
_LABEL = re.compile(r"(?P<words>.*?)(?:\([^()]*\))?\s*:[\s*_]*$", re.DOTALL)
_BOLD = re.compile(r"\*\*[^*]+\*\*")
_NEAR, _FARTHEST, _LONGEST_LABEL, _LONGEST_TITLE = 300, 10, 10, 4

_INTENT: dict[str, Intent] = {word: intent for intent in INTENTS for word in words("intents", intent)}
_PREPOSITIONS: frozenset[str] = words("intents", "into") | words("intents", "beside") | {"as", "at"}


class _Verb(NamedTuple):
    intent: Intent
    word: str
    end: int


def intent_of(text: Text, span: Span, plain: str) -> Intent:
    """What the plan does with the name at `span`; `plain` is the text with all names hidden.

    In this order: "X, a new file"; a remark in parentheses behind it ("(new)"), what is said of it ("is removed"), the
    nearest verb
    before it in its sentence, the verb of a sentence that begins "In X", what stands behind a dash, the other cells of
    its table row, and the labels above it. What only stands in or beside something that is created is changed or
    used: "add a check to X" changes X. Without any such word the name is used. Negated verbs do not count.
    """
    start, end = span.start, span.end
    before = plain[max(0, start - _NEAR) : start]
    after = plain[end : end + _NEAR]
    if _MENTIONED.match(after):
        return "use"
    if _NEW_BEHIND.match(after):
        return "create"
    return (
        _aside(after)
        or _said_of(after)
        or _by_verb(before, after)
        or _within(before, after)
        or _dashed(after)
        or _by_label(text, span, before)
        or "use"
    )


def _aside(after: str) -> Intent | None:
    matched = _ASIDE.match(after)
    intent = _INTENT.get(matched["word"].lower()) if matched else None
    return intent if intent != "use" else None


def _said_of(after: str) -> Intent | None:
    matched = _SAID_OF.match(after) or _PARTICIPLE.match(after)
    word = matched["word"].lower() if matched else ""
    return _INTENT.get(word) if word.endswith("ed") or word in ("new", "rewritten") else None


def _sentence(before: str) -> str:
    """The part of `before` that belongs to the same clause."""
    start = 0
    for boundary in _BOUNDARY.finditer(before):
        start = boundary.end()
    return before[start:]


def _by_verb(before: str, after: str) -> Intent | None:
    clause = _sentence(before)
    if _TEST_LABEL.fullmatch(clause):
        return "create"
    verb = _last_verb(clause)
    if verb is None:
        return None
    between = clause[verb.end :]
    if verb.intent == "use":
        copied = verb.word.startswith("cop") and HIDDEN in between
        return "create" if copied and _preposition(between) in ("to", "into", "as") else "use"
    if verb.word.endswith("ed") and _WORD.search(between.partition(",")[2]):
        return None  # "with that moved, X becomes" says nothing of X
    if verb.intent == "create" and _preposition(between) == "with" and _DEFINED.match(after):
        return "create"
    return _governed(verb, between)


def _governed(verb: _Verb, between: str) -> Intent:
    """The intent of a name behind a verb, by the preposition that stands between."""
    preposition, named = _preposition(between), _WORD.findall(between)[-1:]
    if verb.intent == "create" and preposition in words("intents", "into") and _TESTS.search(between):
        return "create"  # "add a test in X": X may be there, and need not be
    if named and named[0].lower() in ("called", "named") and (verb.intent == "create" or verb.word.startswith("repl")):
        return "create"
    if preposition in words("intents", "beside"):
        return "use"
    named_anew = verb.word.startswith("renam") or HIDDEN in between
    if verb.intent == "move" and named_anew and preposition in ("to", "into", "as", "onto"):
        return "create"
    if preposition == "as" and "," in between:
        return "use"  # ", as X does"
    if preposition in words("intents", "into"):
        return "change"
    return verb.intent


def _last_verb(clause: str) -> _Verb | None:
    """The last word that tells an intent; one that is negated tells only that the name is used."""
    found = list(_WORD.finditer(clause))
    for at in range(len(found) - 1, max(-1, len(found) - 1 - _FARTHEST), -1):
        word = found[at].group().lower().replace("’", "'")  # noqa: RUF001
        intent = _INTENT.get(word)
        if intent is None or (word == "new" and _is_adjective(found, at)) or (intent == "use" and _is_noun(found, at)):
            continue
        negated = any(other.group().lower() in words("intents", "negations") for other in found[max(0, at - 2) : at])
        return _Verb("use" if negated else intent, word, found[at].end())
    return None


def _is_adjective(found: list[re.Match[str]], at: int) -> bool:
    """Whether "new" stands behind a verb that says more: "modify the new file"."""
    return any(_INTENT.get(word.group().lower(), "create") != "create" for word in found[max(0, at - 2) : at])


def _is_noun(found: list[re.Match[str]], at: int) -> bool:
    """Whether a word that could be a verb stands behind an article: "add a check to"."""
    return at > 0 and found[at - 1].group().lower() in words("intents", "determiners")


def _preposition(between: str) -> str:
    """The preposition that governs what follows `between`; empty if the verb governs it directly.

    Articles, nouns such as "file" or "function", one word of any kind, and other inline code are passed over.
    """
    strange = 0
    for word in reversed(_WORD.findall(between)):
        lower: str = word.lower()
        if lower in _PREPOSITIONS:
            return lower
        strange += lower not in words("intents", "fillers")
        if strange > 1:
            return ""
    return ""


def _within(before: str, after: str) -> Intent | None:
    """The intent of X in "In X, add a function": it is changed."""
    lead = [word.lower() for word in _WORD.findall(_sentence(before))]
    lead = [word for word in lead if word not in words("intents", "fillers")]
    if not lead or lead[-1] not in words("intents", "into"):
        return None
    following = _WORD.findall(after.split(".", 1)[0])[:12]
    return "change" if any(_INTENT.get(word.lower(), "use") != "use" for word in following) else None


def _dashed(after: str) -> Intent | None:
    """The intent of X in "X - delete two tests": what follows speaks of its contents, but for "new" and a bare verb."""
    matched = _DASHED.match(after)
    intent = _INTENT.get(matched["word"].lower()) if matched else None
    if matched is None or intent is None or intent == "use" or matched["word"].endswith("s"):
        return None  # "extracts", "creates": what X does, not what is done with it
    if matched["word"].lower() in ("new", "create", "created"):
        return "create"
    bare = not _WORD.search(matched["rest"].split(".")[0]) or re.match(r"\W*(?:this|the)?\s*file\b", matched["rest"])
    return intent if bare and intent != "create" else "change"


def _by_label(text: Text, span: Span, before: str) -> Intent | None:
    """The intent that the row or the labels give to the names that a text begins with, "a." aside."""
    qualified = "." in span.text.partition("(")[0] and not known_extension(span.text)
    if _WORD.search(before if qualified else _ENUMERATOR.sub("", before)):
        return None
    return _by_row(text.row) or next((said for label in text.above if (said := label_intent(label))), None)


def _by_row(row: tuple[str, ...]) -> Intent | None:
    for cell in row:
        found = _WORD.findall(cell)
        short = len(found) == 1 or (len(found) == 2 and found[1].lower() in ("file", "new"))
        intent = _INTENT.get(found[0].lower()) if short else None
        done = intent == "create" and found[0].lower().endswith("ed")  # a status, not an order
        if intent not in (None, "use") and not done:
            return intent
    return None


def label_intent(label: str) -> Intent | None:
    """The intent that a line above a list gives to its items; None if it is no label or names none, or several.

    A label is short, ends with a colon or is bold as a whole, and holds no inline code; a heading is one if it
    speaks of files or is hardly more than the verb.

    >>> label_intent("**Files to create:**"), label_intent("Modify:"), label_intent("New files"), label_intent("Why")
    ('create', 'change', 'create', None)
    """
    matched = _LABEL.fullmatch(label) or _BOLD.fullmatch(label.strip())
    found = [word.lower() for word in _WORD.findall(label)]
    title = len(found) <= _LONGEST_TITLE and not {"phase", "step", "task"} & set(found)
    about_files = title and (bool(words("intents", "files_labels") & set(found)) or len(found) == 1)
    if "`" in label or len(found) > _LONGEST_LABEL or not (matched or about_files):
        return None
    if found in (["test"], ["tests"]):
        return "create"
    intents = {_INTENT[word] for word in found if word in _INTENT} - {"use"}
    return next(iter(intents)) if len(intents) == 1 else None


def creates_files(name: str) -> bool:
    """Whether the name of a task says that the files it lists are new.

    >>> [creates_files(name) for name in ("Task 1: Create the parser", "Create a and updated b", "Add a route")]
    [True, False, False]
    """
    found = [word.lower() for word in _WORD.findall(name)]
    intents = {_INTENT[word] for word in found if word in _INTENT} - {"use"}
    return intents == {"create"} and bool({"create", "creates", "scaffold", "generate"} & set(found[:3]))
