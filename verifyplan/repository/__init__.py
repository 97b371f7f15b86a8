"""A real repository, read for the offline agents: confined, lazily, and whatever it holds (rules G2, G4, H3).

Nothing is imported here: the helper process starts often, and loads its own modules alone.
"""
