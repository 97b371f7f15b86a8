"""The intent of a plan with a name that it mentions, read from the nearest words that govern the name."""

from __future__ import annotations

import re
from typing import NamedTuple

from verifyplan.plans.code_names import HIDDEN, MarkedName, known_extension
from verifyplan.plans.markdown import TextBlock
from verifyplan.plans.values import INTENTS, Intent
from verifyplan.plans.word_lists import words

_WORD = re.compile(r"[A-Za-z]+(?:['’-][A-Za-z]+)*")  # noqa: RUF001  (curly apostrophes are ordinary in prose)
_BOUNDARY = re.compile(r"[.!?;](?=[\s*_\"')\]])(?<!e\.g\.)(?<!i\.e\.)|\s(?:--?|[–—→]|[-=]>)\s|\n[ \t]*\n")  # noqa: RUF001
_ASIDE = re.compile(r"[\s*_]*\((?:(?:a|brand|the|to|be|will) ){0,3}(?P<word>[A-Za-z]+)(?= file|[),;:])")
_PREDICATE = re.compile(
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
_CONTEXT_CHARACTERS, _MAX_VERB_DISTANCE, _MAX_LABEL_WORDS, _MAX_TITLE_WORDS = 300, 10, 10, 4

_INTENT: dict[str, Intent] = {word: intent for intent in INTENTS for word in words("intents", intent)}
_PREPOSITIONS: frozenset[str] = words("intents", "into") | words("intents", "beside") | {"as", "at"}


def intent_of(text: TextBlock, span: MarkedName, plain: str) -> Intent:
    """Return what the plan does with the name at `span`; `plain` is the text with all names hidden.

    In this order: "X, a new file"; a remark in parentheses behind it ("(new)"), a predicate ("is removed"), the nearest
    verb before it in its sentence, the verb of a sentence that begins "In X", the words behind a dash, the other cells
    of its table row, and the labels above it. A file in or beside which something is created is changed or used: "add a
    check to X" changes X. Without any such word the name is used. Negated verbs do not count.
    """
    start, end = span.start, span.end
    before = plain[max(0, start - _CONTEXT_CHARACTERS) : start]
    after = plain[end : end + _CONTEXT_CHARACTERS]
    if _MENTIONED.match(after):
        return "use"
    if _NEW_BEHIND.match(after):
        return "create"
    return (
        _by_remark(after)
        or _by_verb(before, after)
        or _by_lead(before, after)
        or _by_dash(after)
        or _by_label(text, span, before)
        or "use"
    )


def _by_remark(after: str) -> Intent | None:
    aside = _ASIDE.match(after)
    if aside and (intent := _INTENT.get(aside["word"].lower(), "use")) != "use":
        return intent
    matched = _PREDICATE.match(after) or _PARTICIPLE.match(after)
    word = matched["word"].lower() if matched else ""
    return _INTENT.get(word) if word.endswith("ed") or word in ("new", "rewritten") else None


def _last_clause(before: str) -> str:
    start = 0
    for boundary in _BOUNDARY.finditer(before):
        start = boundary.end()
    return before[start:]


def _by_verb(before: str, after: str) -> Intent | None:
    clause = _last_clause(before)
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


class _GoverningVerb(NamedTuple):
    intent: Intent
    word: str
    end: int


def _governed(verb: _GoverningVerb, between: str) -> Intent:
    """Return the intent of a name behind a verb, by the preposition between them."""
    preposition, named = _preposition(between), _WORD.findall(between)[-1:]
    if verb.intent == "create" and preposition in words("intents", "into") and _TESTS.search(between):
        return "create"  # "add a test in X": X may exist, and need not
    if named and named[0].lower() in ("called", "named") and (verb.intent == "create" or verb.word.startswith("repl")):
        return "create"
    if preposition in words("intents", "beside"):
        return "use"
    renamed = verb.word.startswith("renam") or HIDDEN in between
    if verb.intent == "move" and renamed and preposition in ("to", "into", "as", "onto"):
        return "create"
    if preposition == "as" and "," in between:
        return "use"  # ", as X does"
    return "change" if preposition in words("intents", "into") else verb.intent


def _last_verb(clause: str) -> _GoverningVerb | None:
    """Return the last word that shows an intent; one that is negated shows only that the name is used."""
    matches = list(_WORD.finditer(clause))
    for at in range(len(matches) - 1, max(-1, len(matches) - 1 - _MAX_VERB_DISTANCE), -1):
        word = matches[at].group().lower().replace("’", "'")  # noqa: RUF001
        intent = _INTENT.get(word)
        before = [other.group().lower() for other in matches[max(0, at - 2) : at]]
        if intent is None or (word == "new" and any(_INTENT.get(other, "create") != "create" for other in before)):
            continue  # "new" in "modify the new file" is an adjective
        if intent == "use" and before and before[-1] in words("intents", "determiners"):
            continue  # "check" in "add a check to" is a noun
        negated = any(other in words("intents", "negations") for other in before)
        return _GoverningVerb("use" if negated else intent, word, matches[at].end())
    return None


def _preposition(between: str) -> str:
    """Return the preposition that governs what follows `between`; empty if the verb governs it directly.

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


def _by_lead(before: str, after: str) -> Intent | None:
    """Return the intent of X in "In X, add a function": it is changed."""
    lead = [word.lower() for word in _WORD.findall(_last_clause(before))]
    lead = [word for word in lead if word not in words("intents", "fillers")]
    if not lead or lead[-1] not in words("intents", "into"):
        return None
    following = _WORD.findall(after.split(".", 1)[0])[:12]
    return "change" if any(_INTENT.get(word.lower(), "use") != "use" for word in following) else None


def _by_dash(after: str) -> Intent | None:
    """Return the intent of X in "X - delete two tests": this speaks of its contents, but for "new" and a bare verb."""
    matched = _DASHED.match(after)
    intent = _INTENT.get(matched["word"].lower()) if matched else None
    if matched is None or intent is None or intent == "use" or matched["word"].endswith("s"):
        return None  # "extracts", "creates": what X does, not what is done with it
    if matched["word"].lower() in ("new", "create", "created"):
        return "create"
    bare = not _WORD.search(matched["rest"].split(".")[0]) or re.match(r"\W*(?:this|the)?\s*file\b", matched["rest"])
    return intent if bare and intent != "create" else "change"


def _by_label(text: TextBlock, span: MarkedName, before: str) -> Intent | None:
    """Return the intent that the row or the labels give to the names that a text begins with, "a." aside."""
    qualified = "." in span.text.partition("(")[0] and not known_extension(span.text)
    if _WORD.search(before if qualified else _ENUMERATOR.sub("", before)):
        return None
    for cell in text.row:
        cell_words = [word.lower() for word in _WORD.findall(cell)]
        short = len(cell_words) == 1 or (len(cell_words) == 2 and cell_words[1] in ("file", "new"))
        intent = _INTENT.get(cell_words[0]) if short else None
        is_status = intent == "create" and cell_words[0].endswith("ed")  # and no order
        if intent not in (None, "use") and not is_status:
            return intent
    return next((intent for label in text.above if (intent := label_intent(label))), None)


def label_intent(label: str) -> Intent | None:
    """Return the intent that a line above a list gives to its items; None unless it is a label of one intent.

    A label is short, ends with a colon or is bold as a whole, and holds no inline code; a heading is one if it
    speaks of files or is hardly more than the verb.

    >>> label_intent("**Files to create:**"), label_intent("Modify:"), label_intent("New files"), label_intent("Why")
    ('create', 'change', 'create', None)
    """
    matched = _LABEL.fullmatch(label) or _BOLD.fullmatch(label.strip())
    label_words = [word.lower() for word in _WORD.findall(label)]
    title = len(label_words) <= _MAX_TITLE_WORDS and not {"phase", "step", "task"} & set(label_words)
    about_files = title and (bool(words("intents", "files_labels") & set(label_words)) or len(label_words) == 1)
    if "`" in label or len(label_words) > _MAX_LABEL_WORDS or not (matched or about_files):
        return None
    if label_words in (["test"], ["tests"]):
        return "create"
    intents = _intents_in(label_words)
    return next(iter(intents)) if len(intents) == 1 else None


def creates_files(name: str) -> bool:
    """Return whether the name of a task says that the files it lists are new.

    >>> [creates_files(name) for name in ("Task 1: Create the parser", "Create a and updated b", "Add a route")]
    [True, False, False]
    """
    name_words = [word.lower() for word in _WORD.findall(name)]
    creating = {"create", "creates", "scaffold", "generate"} & set(name_words[:3])
    return bool(creating) and _intents_in(name_words) == {"create"}


def _intents_in(lower_words: list[str]) -> set[Intent]:
    return {_INTENT[word] for word in lower_words if word in _INTENT} - {"use"}
