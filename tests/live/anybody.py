"""A script for the scripted server that answers whoever asks: nothing to raise, agreement with all, sevens, a diff.

It looks at the request alone, so that it serves runs of any kind, in batches and out of them.
"""

from __future__ import annotations

from typing import Any

from tests.live.live_runs import LABELS, findings_of, mode_of
from tests.live.scripted_asked import Asked
from tests.live.scripted_replies import Answer, says, says_json
from tests.live.scripted_server import MODELS
from verifyplan.protocol.records import DIMENSIONS

DIFF = "--- /dev/null\n+++ b/hello.txt\n@@ -0,0 +1 @@\n+hello\n"
"""What a builder makes of any task."""


def anybody(asked: Asked) -> Answer:
    """The least that can be answered, in the form that the request asks for."""
    if mode := mode_of(asked):
        vote = {"explanation": "it stands there", "verdict": LABELS[mode]["agree"]}
        return says_json({"votes": [{"finding_id": name, **vote} for name in findings_of(asked)]})
    schema: dict[str, Any] | None = asked.body.get("output_config", {}).get("format", {}).get("schema")
    if schema is None:  # such as a request of docs/endpoints.md
        return says("OK.")
    if "content" in schema["properties"]:
        made = {"diff": DIFF} if "diff" in schema["properties"] else {}
        return says_json({"reasons": ["1: met"], "evidence": [], "risks": [], **made, "content": "Verified: it does."})
    if "scores" in schema["properties"]:
        return says_json({"scores": {name: {"score": 7, "evidence": "the plan says so"} for name in DIMENSIONS}})
    return says_json({name: [] for name, due in schema["properties"].items() if due.get("type") == "array"})


reply = anybody  # the names that serve.py looks for
OPTIONS: dict[str, Any] = {"models": (*MODELS, "openai/gpt-5", "google/gemini-3-pro", "qwen3"), "polls": 0}
"""The models of the documentation; a batch has ended when it is first looked at."""
