"""HOW THEY TALK: the only orchestration; agents answer, rules decide, events tell."""
