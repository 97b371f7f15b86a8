"""Architect and builder of a debate without a model: a checklist, and a diff that meets it (SPEC C2, G2)."""
