"""Names that were removed, and what to use instead; asking for one says so, and CHANGELOG.md has the same table."""

from __future__ import annotations

REMOVED: dict[str, str] = {
    "ppi": 'use corrected_rate(..., labels="random"), whose default method it is',
    "monitor": "use compare on a number of runs that sample_size or power fixed before the first one",
    "fragility": 'use compare(rules={...}) with lost_votes "as-agree" and "as-disagree", or uncited "as-burden"',
    "stopping": 'use search_rules(space={"stop": [...]}), whose table has the votes and the quality under each stop',
    "vacuity": "read n_settled_cited and n_settled_uncited of the table runs, or the head of a plan run's report",
    "connect": "pass client= to analysis.classify_dataset, replay_dataset, compare_dataset or map_parts",
    "Monitor": "use results.Comparison, which compare returns",
    "Fragility": "use results.Comparison, which compare returns",
    "Stopping": "use results.RuleSearch, which search_rules returns",
    "Vacuity": "read n_settled_cited and n_settled_uncited of the table runs",
    "RuleStudio": "use compare(rules={...}), which compares any rules on the same votes",
    "probe": "use agents.diagnose for key, endpoint and models; docs/endpoints.md has requests that show the rest",
    "ConformanceReport": "give structured, context and max_concurrency to agents.Anthropic; see docs/endpoints.md",
}
"""What to use instead of each name that went, as the end of a sentence."""
