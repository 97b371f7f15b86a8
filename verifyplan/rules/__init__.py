"""The decisions, as pure functions of protocol objects: one rule set a file, each loaded on first use."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submodules=[
        "answers",
        "budgets",
        "citations",
        "classification",
        "convergence",
        "directives",
        "grouping",
        "guards",
        "invariants",
        "lifecycle",
        "likeness",
        "scoring",
        "settings",
        "sizing",
    ],
)
