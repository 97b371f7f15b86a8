"""Run and study verification by LLM agents. Every name here loads on first use (`__init__.pyi` lists them)."""

from verifyplan.lazy_names import load_lazily
from verifyplan.version import VERSION as __version__  # noqa: F401, N811  (re-exported, under the name that Python asks for)

load_lazily(__name__)
