"""WHAT RUNS WOULD TAKE: dry runs, in which every request is worded and none is sent, counted in calls, tokens, dollars."""
