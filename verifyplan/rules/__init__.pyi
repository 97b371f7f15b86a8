"""The rule sets, one a module, and the settings of a loop as users write them; each loads on first use."""

from . import answers as answers
from . import budgets as budgets
from . import citations as citations
from . import classification as classification
from . import convergence as convergence
from . import debate as debate
from . import directives as directives
from . import grouping as grouping
from . import guards as guards
from . import invariants as invariants
from . import lifecycle as lifecycle
from . import likeness as likeness
from . import scoring as scoring
from . import settings as settings
from . import sizing as sizing
from .settings import convergence_block as convergence_block
