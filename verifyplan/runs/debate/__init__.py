"""The debate of architect and builder: two fixed roles settle a diff, turn by turn (part C of the rules)."""
