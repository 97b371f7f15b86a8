"""WHAT IS SAID: frozen models and enumerations. No I/O, no decisions."""

from verifyplan.lazy_names import load_lazily

load_lazily(__name__)
