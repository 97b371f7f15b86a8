"""WHAT IS WRITTEN DOWN: analyses and runs as Markdown and HTML that stand alone."""
