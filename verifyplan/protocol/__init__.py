"""Records of runs, and the requests and replies of backends: frozen models, without I/O and without decisions."""

from verifyplan.lazy_names import load_lazily

load_lazily(__name__)
