"""The bundled fixture sets by name; claims, labelled plans, scripted debates, made-up scores, a tree of documents."""

from verifyplan.lazy_names import load_lazily

load_lazily(__name__)
