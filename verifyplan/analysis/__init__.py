"""Analyses of tables, one method a file; no analysis calls an agent."""

import lazy_loader

__getattr__, __dir__, _ = lazy_loader.attach(__name__, submodules=["weights"])  # for `verifyplan.weights`
