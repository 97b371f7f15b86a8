"""WHAT IS SAID: frozen models and enumerations. No I/O, no decisions."""
