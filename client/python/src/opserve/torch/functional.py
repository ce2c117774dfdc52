"""Operators with the signatures of torch.nn.functional (and of torch: add, addmm, bmm, div, matmul, mean, mul, sub, sum), on a server.

What a function cannot do of what PyTorch's can raises NotImplementedError.
"""

from __future__ import annotations

from . import _activations, _layers, _losses, _reductions
from ._activations import *
from ._layers import *
from ._losses import *
from ._reductions import *

__all__ = [*_activations.__all__, *_layers.__all__, *_losses.__all__, *_reductions.__all__]
