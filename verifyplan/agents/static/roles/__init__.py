"""The six agents of plan verification without a model, and the panel that votes on challenges (rule G2).

`scene` is what an agent is given, `issues` how challenges are worded and read again, `checks` what is looked for;
then one module a role. An agent says nothing that it cannot cite.
"""
