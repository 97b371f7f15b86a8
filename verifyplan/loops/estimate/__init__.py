"""WHAT RUNS WOULD TAKE: dry runs, whose requests are worded and not sent, counted in calls, tokens and dollars."""
