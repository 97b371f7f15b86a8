"""The six agents of plan verification without a model, and the panel that votes on challenges (rule G2).

`context` is the input of an agent, `issues` the wording of challenges and how they are read again, `check_...` are
the look-ups; then one module a group of roles. An agent says nothing that it cannot cite.
"""
