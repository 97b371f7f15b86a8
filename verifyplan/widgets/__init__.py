"""WHAT IS MOVED: the researcher's bench in a notebook; controls over tables, analyses, charts and runs."""
