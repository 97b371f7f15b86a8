"""Words that turn a claim into another one, as data: pairs of opposites, words that give a direction, words that say
nothing by themselves (rule B2).
"""

from __future__ import annotations

PAIRS = """
before earlier prior preceding precedes precede | after later subsequent following follows follow
with including includes include | without excluding excludes exclude
input inputs inbound incoming | output outputs outbound outgoing
inside within internal inner | outside external outer
upper upward upwards upstream | lower downward downwards downstream
above over exceeds exceed exceeding | below under beneath
more most greater larger longer higher maximum max | less least fewer smaller shorter minimum min
first leading initial initially | last trailing final finally
all every each always everything everyone | some any sometimes
left | right
true truthy | false falsy
only just solely | also too additionally
both | either
and | or
must shall should | may might could can
source sources sender senders producer producers | target targets destination destinations receiver consumer consumers
client clients caller callers request requests | server servers callee response responses
parent parents ancestor | child children descendant
old older oldest previous | new newer newest next
early eager eagerly | late lazy lazily
ascending increasing increases increase grows | descending decreasing decreases decrease shrinks
"""
"""Two sides a line. Other words need no line: one that is exchanged for another, as "released on error" for
"retained on error", tells two claims apart whatever the two words are."""

_SIDES = {
    word: f"{number}{'ab'[side]}"
    for number, line in enumerate(PAIRS.strip().split("\n"))
    for side, words in enumerate(line.split("|"))
    for word in words.split()
}


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


DIRECTIONS = _words("to from into onto by than instead through toward towards against")
"""With one of these, or a word of a pair, it matters in which order the other words stand: "the cache to the disk"."""

FILLERS = _words(
    """
    a an the this that these those it its they their there which who whose what of as is are was were be been being
    has have had do does did will would so then here see
    not no nor never neither nothing nobody none cannot t s d ll re ve
    isn aren wasn weren doesn don didn hasn haven hadn won wouldn couldn shouldn mustn
    """
)
"""Words that may come and go; negations are among them, as they are counted apart."""


def side_of(word: str) -> str | None:
    """Return which side of which pair a word in small letters takes; None for a word of no pair.

    >>> side_of("before") == side_of("prior"), side_of("before") == side_of("after"), side_of("lock")
    (True, False, None)
    """
    return _SIDES.get(word)
