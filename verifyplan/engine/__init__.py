"""Call agents, record their answers, and count votes; `runs` decides what is verified."""
