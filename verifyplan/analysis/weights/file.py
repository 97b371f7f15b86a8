"""`save` and `load` of weights files, for `vp.weights`; runs read the same files without loading an analysis."""

from verifyplan.protocol.weights_file import load as load
from verifyplan.protocol.weights_file import save as save
