"""The bundled data by name; each loads on first use."""

from ..frames.bundled import claims as claims
from ..frames.bundled import names as names
from ..frames.bundled import path as path
from ..frames.bundled_votes import votes as votes
from .bundled import debate_script as debate_script
from .bundled import example_scores as example_scores
from .bundled import example_votes as example_votes
from .bundled import runs as runs
from .labels import LabelledChallenge as LabelledChallenge
from .labels import LabelledDefect as LabelledDefect
from .labels import PlanLabel as PlanLabel
from .labels import challenge_label_table as challenge_label_table
from .labels import label_table as label_table
from .labels import read_labels as read_labels
from .plans import labelled_plans as labelled_plans
from .plans import plan_labels as plan_labels
from .plans import plan_path as plan_path
from .sample import sample_planning as sample_planning
from .sample import sample_repository as sample_repository
from .stdlib import stdlib_claims as stdlib_claims
from .stdlib import stdlib_root as stdlib_root
