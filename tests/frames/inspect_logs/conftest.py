"""The script of this folder imports a package that is not among those of the tests."""

collect_ignore = ["write_logs.py"]
