"""The charts by name; each loads on first use."""

from .audit import audit as audit
from .challenge_pool import challenge_pool as challenge_pool
from .class_mix import class_mix as class_mix
from .coverage import coverage as coverage
from .debate import debate as debate
from .flips import flips as flips
from .panel import panel as panel
from .plan_graph import plan_graph as plan_graph
from .power import power as power
from .quality_scores import quality_scores as quality_scores
from .queue import queue as queue
from .rank_stability import rank_stability as rank_stability
from .ranking import ranking as ranking
from .rule_search import rule_search as rule_search
from .score_distributions import score_distributions as score_distributions
from .sensitivity import sensitivity as sensitivity
from .theme import theme as theme
from .timeline import timeline as timeline
from .transitions import transitions as transitions
from .truth_metrics import truth_metrics as truth_metrics
from .usage import usage as usage
from .vote_matrix import vote_matrix as vote_matrix
from .weights import weights as weights
from .workers import workers as workers
