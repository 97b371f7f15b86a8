"""The debate of architect and builder: two fixed roles settle a diff, turn by turn (SPEC part C)."""
