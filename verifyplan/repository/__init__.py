"""A repository, read for agents: only its own files, when they are needed, even hostile ones (rules G2, G4, H3).

Nothing is imported here: the helper process starts often, and loads its own modules alone.
"""
