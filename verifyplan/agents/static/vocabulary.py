"""The words by which a sentence is read as a claim about code."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


KINDS = {
    "default": _words("default defaults defaulting defaulted"),
    "parameter": _words("parameter parameters param params argument arguments arg args"),
    "raises": _words("raise raises raised raising throw throws thrown"),
    "imports": _words("import imports imported importing"),
    "base-class": _words(
        "inherit inherits inherited inheriting subclass subclasses superclass superclasses"
        " derive derives derived extend extends extended extending base bases"
    ),
    "location": _words("defined defines definition declared declares declaration starts begins located"),
    "calls": _words("call calls called calling invoke invokes invoked"),
}
"""The words that tell what kind of fact is claimed; where several fit, the first kind is meant."""

REVERSING = {
    "parameter": _words("of by in to"),
    "raises": _words("by in inside within from"),
    "imports": _words("by in inside within"),
    "base-class": _words("of by"),
    "calls": _words("by in inside within from"),
}
"""Words that, standing between two names, put the subject second: "`X` is raised by `f`"."""

DESCENDING = _words("subclass subclasses inherits inherited derives derived")
"""Words that keep the subject first, whatever follows them: "`C` is a subclass of `B`"."""

NEGATIONS = _words("not no never neither nor none nothing without lacks lack cannot hardly")
"""Words that deny the claim; so does any word that ends in n't."""

QUANTIFIERS = _words("always only every exactly unconditionally all both also first last sometimes rarely")
"""Words whose part of the claim no checker here can judge."""

CUTS = _words("when if unless whenever because while after before so since whose except but and or for where")
"""Words that begin a part of the sentence which is not read, once it has named two things."""

FILLERS = _words(
    "a an the this that it its is are was be been being of in on at to by as from with for and or via"
    " also does do did has have had can could may might must will would should function method class"
    " module package file library code body body's value name named set given one some any their there"
    " here takes take taken accepts accept accepted gets get gives give receives uses use contains contain"
    " holds hold keyword positional optional exception error type line lines statement source among list"
    " signature parent child inside within if when unless than then most direct directly itself"
)
"""Words that are no names when a sentence has no backticks."""
