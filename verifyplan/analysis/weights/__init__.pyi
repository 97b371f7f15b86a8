"""The public names of `verifyplan.weights`; the score informs and never decides a verdict (rules A10, F4)."""

from .fitting import fit as fit
from .rank_stability import rank_stability as rank_stability
from .score_table import wide as wide
from .scored import apply as apply
from .scored import sensitivity as sensitivity
from .simplex import load as load
from .simplex import presets as presets
from .simplex import rebalance as rebalance
from .simplex import save as save
from .simplex import to_decimals as to_decimals
from .stability_measures import stability_measures as stability_measures
