"""Load the public names of a module on first use, and say what was meant where a name is misspelt or has moved.

A module calls `load_lazily(__name__)`; its stub, the `.pyi` file beside it, lists its public names, one import a line:
`from .analysis.compare import compare as compare`. Type checkers read the same lines.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from types import ModuleType

from verifyplan.removed_names import REMOVED

_PACKAGE = __name__.partition(".")[0]
_FOLDER = Path(__file__).parent


class LazyModule(ModuleType):
    """A module whose public names load on first use; `dir()` shows these names and no others."""

    __all__: list[str]
    __public__: dict[str, tuple[str, str]]

    def __getattr__(self, name: str) -> object:
        """Load a public name; AttributeError says which name was meant."""
        if name not in self.__public__:
            raise AttributeError(_missing(self, name))
        source, attribute = self.__public__[name]
        module = import_module(source, self.__package__)
        self.__dict__[name] = value = getattr(module, attribute) if attribute else module
        return value

    def __setattr__(self, name: str, value: object) -> None:
        """Set an attribute; a submodule that is being imported does not hide the public name it shares.

        Nor is it shown where the package has its public name, so that `charts.export` says where that is.
        """
        is_submodule = isinstance(value, ModuleType) and value.__name__ == f"{self.__name__}.{name}"
        if not (is_submodule and (self.__public__.get(name, ("", ""))[1] or _gives_package_name(self, name))):
            super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        """Return the public names."""
        return sorted(self.__public__)


def load_lazily(name: str) -> None:
    """Let the module of this name load its public names on first use.

    >>> import verifyplan as vp
    >>> vp.compere
    Traceback (most recent call last):
    AttributeError: verifyplan has no 'compere'; did you mean 'compare'?
    >>> vp.CrossRun
    Traceback (most recent call last):
    AttributeError: verifyplan has no 'CrossRun'; use verifyplan.results.CrossRun
    """
    module = sys.modules[name]
    public = public_names(Path(str(module.__file__)).with_suffix(".pyi"))
    module.__dict__.update(__public__=public, __all__=sorted(public))
    module.__class__ = LazyModule


def public_value(module: str, name: str) -> object:
    """Return what a public module has by a public name, for a result that offers what a layer above makes of it.

    >>> public_value("charts", "rule_search").__name__
    'rule_search'
    """
    return getattr(import_module(f"{_PACKAGE}.{module}"), name)


def public_names(stub: Path) -> dict[str, tuple[str, str]]:
    """Return the names that a stub lists, each with its module and its name there.

    A name that is itself a module has a blank name there: `from . import charts as charts`.
    """
    lines = stub.read_text("utf-8").splitlines()
    imports = [line.split() for line in lines if line.startswith("from .")]
    return {
        words[-1]: (f".{words[3]}", "") if words[1] == "." else (words[1], words[3])  # from MODULE import NAME as NAME
        for words in imports
    }


def _missing(module: ModuleType, name: str) -> str:
    """Say that a module has no such name, and which one was meant: the same elsewhere, else the nearest here.

    Nothing is imported: `from package import submodule` comes here as well, before it imports the submodule.
    """
    message = f"{module.__name__} has no {name!r}"
    if name in REMOVED:
        return f"{module.__name__}.{name} was removed; {REMOVED[name]}"
    if _gives_package_name(module, name):
        return f"{message}; use {_PACKAGE}.{name}"
    submodule = Path(str(module.__file__)).parent / name
    if name.startswith("_") or submodule.exists() or submodule.with_suffix(".py").exists():
        return message
    for place, names in _public_modules():
        if name in names:
            return f"{message}; use {place}.{name}"
    near = get_close_matches(name, module.__all__, n=1)
    return f"{message}; did you mean {near[0]!r}?" if near else f"{message}; dir({module.__name__}) lists its names"


def _gives_package_name(module: ModuleType, submodule: str) -> bool:
    """Return whether the package takes its public name of this submodule from it: `export` from `charts.export`."""
    source, attribute = sys.modules[_PACKAGE].__dict__.get("__public__", {}).get(submodule, ("", ""))
    return bool(attribute) and f"{_PACKAGE}{source}" == f"{module.__name__}.{submodule}"


def _public_modules() -> Iterator[tuple[str, Iterable[str]]]:
    """Yield the package and its public modules, each with its public names."""
    public = public_names(_FOLDER / "__init__.pyi")
    yield _PACKAGE, public
    for name, (source, attribute) in public.items():
        path = _FOLDER.joinpath(*source.split(".")[1:], attribute)
        for stub in (path.with_suffix(".pyi"), path / "__init__.pyi"):
            if stub.exists():
                yield f"{_PACKAGE}.{name}", public_names(stub)
