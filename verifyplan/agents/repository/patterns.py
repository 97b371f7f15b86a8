"""Which texts may define a name, language by language: a quick look that spares most of the parsing."""

from __future__ import annotations

import re
from functools import lru_cache

_MODIFIERS = (
    "export|default|async|static|public|private|protected|readonly|abstract|declare|get|set|override|accessor|const"
)
_SHAPES: dict[str, str] = {
    "python": r"(?:def|class|type)[ \t]+{0}|(?:^|[;:])[ \t]*(?:self\.)?{0}[ \t]*[=:]",
    "go": (
        r"(?:func|type)\b[ \t]*(?:\([^()\n]*\)[ \t]*)?{0}|(?:const|var)\b[^=\n]*{0}"
        r"|^[ \t]*(?:\w+,[ \t]*)*{0}(?:[ \t,(]|$)"
    ),
    "rust": (
        r"(?:fn|struct|enum|union|trait|type|mod|const|static|mut|macro_rules!)[ \t\n]+{0}"
        r"|(?:^|[{{,(\]])[ \t]*(?:pub(?:\([^()\n]*\))?[ \t]+)?{0}[ \t]*(?:[:,({{=}}]|$)"
    ),
    "java": (
        r"(?:[\w>\]])[ \t\n]+{0}[ \t]*(?:[(=;,\[{{<]|$|extends|implements|throws)"
        r"|(?:^|[,{{])[ \t]*{0}[ \t]*(?:[,;({{}}=]|$)"
    ),
    "typescript": (
        r"(?:function|class|interface|type|enum|namespace|module|const|let|var)\b[ \t*]*{0}|\.{0}[ \t]*=(?!=)"
        rf"|(?:^|[{{{{}}}},;(])[ \t]*(?:(?:{_MODIFIERS})[ \t]+)*[#*]?[ \t]*"
        r"['\"]?{0}['\"]?[?!]?[ \t]*(?:[=:(<,}};]|$)"
    ),
}
_SHAPES["javascript"] = _SHAPES["typescript"]


@lru_cache(maxsize=256)
def may_define(name: str, language: str) -> re.Pattern[str]:
    """A pattern that finds each text of a parsed language that defines `name`, and few others.

    >>> [bool(may_define("run", "python").search(text)) for text in ("def run():", "self.run = 1", "x.run(1)")]
    [True, True, False]
    """
    one = rf"(?<![\w$]){re.escape(name)}(?![\w$])"
    return re.compile(_SHAPES[language].format(one), re.MULTILINE)
