"""The weights of the score under a person's hands, and the ranking that follows."""

from verifyplan.widgets.tuner.weight_tuner import WeightTuner

__all__ = ["WeightTuner"]
