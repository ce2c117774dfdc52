"""opserve for PyTorch: torch.nn's functions and modules, computed on a server, with their gradients.

    import opserve.torch
    import opserve.torch.functional as F     # was: import torch.nn.functional as F
    import opserve.torch.nn as nn            # was: import torch.nn as nn

    with opserve.connect("localhost:8500") as client, opserve.torch.use(client): …

Tensors lie on the CPU and travel with each call. Second derivatives are refused. docs/python.md says what else differs.
"""

from __future__ import annotations

from ._autograd import apply
from ._client import current, use
from ._library import register

__all__ = ["apply", "current", "register", "use"]
