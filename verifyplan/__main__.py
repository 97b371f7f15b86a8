"""Run the command line as `python -m verifyplan`."""

from verifyplan.cli import main

if __name__ == "__main__":
    main()
