import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from verifyplan.agents.static.claims import CodeClaim, read_claim

READ = {
    "`f` takes a parameter `x`.": CodeClaim("parameter", "f", "x"),
    "The function `f()` accepts an argument called `x`.": CodeClaim("parameter", "f", "x"),
    "`*args` is one of the parameters of `C.f`": CodeClaim("parameter", "C.f", "args"),
    "parse() takes a parameter is_strict": CodeClaim("parameter", "parse", "is_strict"),
    "`f` doesn't take a parameter named `x`.": CodeClaim("parameter", "f", "x", negated=True),
    "`f` doesn\N{RIGHT SINGLE QUOTATION MARK}t take a parameter `x`.": CodeClaim("parameter", "f", "x", negated=True),
    "The method `m` of class `C` has no argument `x`.": CodeClaim("parameter", "C.m", "x", negated=True),
    "The parameter `x` of `f` defaults to `None`.": CodeClaim("default", "f", "x", "None"),
    "In `f`, the default of `x` is `'a b'`.": CodeClaim("default", "f", "x", "'a b'"),
    "`3` is the default value of `x` in `f`.": CodeClaim("default", "f", "x", "3"),
    "`f` has a parameter `x` that defaults to `3`.": CodeClaim("default", "f", "x", "3"),
    "`x` of `f` has no default.": CodeClaim("default", "f", "x", negated=True),
    "`f` raises `ValueError`.": CodeClaim("raises", "f", "ValueError"),
    "In a/b.py, parse() raises a ValueError": CodeClaim("raises", "parse", "ValueError"),
    "A `KeyError` is raised by `f` in `pkg/mod.py:12`.": CodeClaim("raises", "f", "KeyError"),
    "`f` never raises `KeyError`.": CodeClaim("raises", "f", "KeyError", negated=True),
    "`f` raises `KeyError` when `x` is missing.": CodeClaim("raises", "f", "KeyError", unread="when"),
    "`f` always raises `KeyError`.": CodeClaim("raises", "f", "KeyError", unread="always"),
    "`f` raises `KeyError` and calls `g`.": CodeClaim("raises", "f", "KeyError", unread="and"),
    "`f` raises `KeyError`. See `g`.": CodeClaim("raises", "f", "KeyError", unread="the other sentence"),
    "`pkg/mod.py` imports `re`.": CodeClaim("imports", "", "re"),
    "The module `json.decoder` does not import `re`.": CodeClaim("imports", "json.decoder", "re", negated=True),
    "`re` is imported by `json.decoder`": CodeClaim("imports", "json.decoder", "re"),
    "`C` is a subclass of `B`.": CodeClaim("base-class", "C", "B"),
    "Class `C` extends `pkg.B`": CodeClaim("base-class", "C", "pkg.B"),
    "`B` is a base class of `C`.": CodeClaim("base-class", "C", "B"),
    "`f` calls `self.g`.": CodeClaim("calls", "f", "self.g"),
    "The body of `f` contains a call to `g()`": CodeClaim("calls", "f", "g"),
    "`g` is never called inside `f`.": CodeClaim("calls", "f", "g", negated=True),
    "`f` is defined at line 12 of `a.py`.": CodeClaim("location", "f", "12"),
    "The definition of `f` starts on line `12`.": CodeClaim("location", "f", "12"),
    "`a/b.py:12` defines `f`": CodeClaim("location", "f", "12"),
    "`f` is defined in `a.py`.": CodeClaim("location", "f", ""),
    "`f` is defined at line 012.": CodeClaim("location", "f", "12"),
    "The file `./a.py` exists.": CodeClaim("file", "a.py", ""),
    "The file `a.py` exists, and is short.": CodeClaim("file", "a.py", "", unread="the rest"),
}

UNREAD = [
    "",
    "The code is hard to read.",
    "`f` is slow.",
    "The file `a.py` exists no longer.",
    "parse takes a parameter strict",  # two ordinary words, neither of which looks like code
    "`f` raises `A`, `B` or `C`.",
    "`f` raises.",
    "It is not true that `f` does not raise `A`.",
    "`f` raises `A`. `f` raises `B`.",
    "`a b` raises `c d`.",
    "`f` and `g` raise `A`.",
    "The tokenizer loses the last byte whenever the buffer is refilled",
    "`f` raises `A`. " + "x" * 3000,
]


@pytest.mark.parametrize(("text", "claim"), READ.items())
def test_ordinary_wordings_are_read(text, claim):
    assert read_claim(text) == claim


@pytest.mark.parametrize("text", UNREAD)
def test_what_is_no_clear_claim_is_not_read(text):
    assert read_claim(text) is None


WORDS = st.sampled_from(
    ["`f`", "`x.y`", "`3`", "`a.py:3`", "`", "raises", "calls", "defaults", "parameter", "of", "by", "not", "no",
     "is", "a", "default", "line", "12", "class", "in", "module", "when", "imports", "defined", "base", ".", "²"]
)  # fmt: skip


@settings(deadline=None)
@example("RAISE` ``A`")  # a name of spaces is none
@given(st.text() | st.lists(WORDS, max_size=14).map(" ".join))
def test_any_text_is_read_or_not_but_never_raises(text):
    claim = read_claim(text)
    assert claim is None or (claim.kind == "imports" or claim.subject)
    if claim and claim.kind == "location":
        assert not claim.detail or int(claim.detail) >= 0


@pytest.mark.parametrize(
    "piece", ["`", "`a", "`a` ", "a.", "(", "a b ", "..", "line 1 ", "`f` raises ", "*", "/", "x/y:"]
)
def test_long_texts_take_no_long_time(piece):
    start = time.process_time()
    read_claim(piece * (1990 // len(piece)))
    read_claim(piece * 500_000)
    assert time.process_time() - start < 2
