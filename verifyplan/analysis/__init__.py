"""WHAT IS LEARNT: analyses of tables; they never call an agent."""

import lazy_loader

__getattr__, __dir__, _ = lazy_loader.attach(__name__, submodules=["weights"])  # for `verifyplan.weights`
