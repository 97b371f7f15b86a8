"""Draw analysis results as charts: a theme and one file per chart; nothing is computed here.

Every chart takes the result that it draws, or runs, a run or a path, and the options of `ChartOptions`. A table's
`attrs["synthetic"]` marks generated data; a column that is missing is a TableError.
"""

from verifyplan.lazy_names import load_lazily

load_lazily(__name__)
