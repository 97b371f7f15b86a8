"""For a true fact, a plausible detail that makes it false, checked on the tree to be really false."""

from __future__ import annotations

import ast
import builtins
import re
import sys
from collections.abc import Iterable
from random import Random

from verifyplan.datasets.stdlib.facts import Fact, Module, StdlibDefinition, ancestors, short

_COMMON = {  # details that are plausible anywhere; more come from the same module
    "parameter": ("name", "value", "encoding", "timeout", "flags"),
    "default": ("None", "True", "False", "0", "1", "-1", "''", "()"),
    "raises": ("ValueError", "TypeError", "KeyError", "RuntimeError", "OSError", "NotImplementedError"),
    "imports": ("os", "re", "sys", "io", "types", "warnings", "functools", "collections", "itertools", "time"),
    "base-class": ("Exception", "ValueError", "dict", "list", "OSError"),
    "calls": ("len", "isinstance", "getattr", "open", "str", "repr", "super", "int"),
    "location": (),
}

_MODULES = sorted(name for name in sys.stdlib_module_names if len(name) > 4 and name[0] != "_")
_MENTIONED = re.compile(rf"\b(?:{'|'.join(_MODULES)})\b")


def altered(fact: Fact, rng: Random) -> str | None:
    """Return a detail with which the fact is false for all definitions of that full name; None if there is none."""
    module = fact.module
    same_name = [definition for definition in module.definitions if definition.name == fact.subject]
    near = sorted(module.definitions, key=lambda definition: abs(definition.line - fact.line))[:8]
    pools = (_pool(fact, near), _pool(fact, module.definitions), _COMMON[fact.category])
    choices = [sorted(pool) for pool in map(set, pools) if pool]
    for _ in range(12):
        detail = rng.choice(rng.choice(choices)) if choices else fact.detail
        if detail != fact.detail and _is_false(fact, detail, same_name):
            return detail
    return None


def _pool(fact: Fact, definitions: Iterable[StdlibDefinition]) -> Iterable[str]:
    """Return details of that category that some definitions have; lines near by; modules that the text mentions."""
    if fact.category == "imports":
        return _MENTIONED.findall("\n".join(fact.module.lines))
    details = [detail for definition in definitions for detail in _details(definition, fact.category)]
    lines = (fact.line + by for by in (-9, -3, -2, -1, 1, 2, 3, 4, 12) if fact.category == "location")
    return [*details, *(str(line) for line in lines if 0 < line <= len(fact.module.lines))]


def _details(definition: StdlibDefinition, category: str) -> Iterable[str]:
    match category:
        case "parameter":
            return set(definition.parameter) - {"self", "cls"}
        case "default":
            return filter(short, definition.defaults.values())
        case "raises":
            return (name for name in definition.raises if name.rpartition(".")[2][:1].isupper())
        case "calls":
            return definition.calls
        case "base-class":
            return (*definition.bases, *((definition.bare,) if definition.node is ast.ClassDef else ()))
    return (str(definition.line),)


def _is_false(fact: Fact, detail: str, same_name: list[StdlibDefinition]) -> bool:
    """Whether the tree shows that no definition of the fact's name has this detail."""
    match fact.category:
        case "parameter":
            return all(detail not in definition.parameter for definition in same_name)
        case "default":
            return all(_differs(definition.defaults.get(fact.of), detail) for definition in same_name)
        case "raises":
            return not any(_is_a(name, detail) for definition in same_name for name in definition.raises)
        case "calls":
            return not any(_last(name) == _last(detail) for definition in same_name for name in definition.calls)
        case "imports":
            names = fact.module.imports
            related = (f"{name}.".startswith(f"{detail}.") or detail.startswith(f"{name}.") for name in names)
            return not any(related) and detail not in map(_last, names)
        case "base-class":
            return all(_no_base(fact.module, definition, detail) for definition in same_name)
    bare = _last(fact.subject)  # a bare name at the line of a namesake would be true
    return all(int(detail) != definition.line for definition in fact.module.definitions if definition.bare == bare)


def _last(name: str) -> str:
    return name.rpartition(".")[2]


def _differs(value: str | None, text: str) -> bool:
    """Whether two defaults are different values, not only different texts."""
    try:
        return value is None or bool(ast.literal_eval(value) != ast.literal_eval(text))
    except (ValueError, SyntaxError):
        return value != text


def _is_a(name: str, other: str) -> bool:
    """Whether a name means another class, or a builtin class that derives from it."""
    derived, base = (getattr(builtins, _last(text), None) for text in (name, other))
    if isinstance(derived, type) and isinstance(base, type):
        return issubclass(derived, base)
    return not name or not name[0].isupper() or _last(name) == _last(other)


def _no_base(module: Module, definition: StdlibDefinition, detail: str) -> bool:
    """Whether `detail` is surely no base: a class of the module, or a built-in one where all bases are known."""
    known = ancestors(module, definition)
    own = {other.bare for other in module.definitions if other.node is ast.ClassDef}
    if _last(detail) in {definition.bare, *map(_last, known)}:
        return False
    outside = [name for name in known if name not in own]
    all_builtin = all(isinstance(getattr(builtins, name, None), type) for name in outside)
    builtin = detail not in own and isinstance(getattr(builtins, detail, None), type)
    return detail in own or (builtin and all_builtin and not any(_is_a(name, detail) for name in outside))
