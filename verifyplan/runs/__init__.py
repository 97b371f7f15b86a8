"""Drive runs: agents answer, rules decide, and every step is an event in the log."""
