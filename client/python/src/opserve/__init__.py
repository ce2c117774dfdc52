"""opserve: operators and their gradients on an opserve server.

    import numpy as np, opserve

    x, y = np.arange(8, dtype=np.float32).reshape(4, 2), np.ones((4, 2), np.float32)
    with opserve.connect("localhost:8500") as c:
        r = c.execute("SmoothL1LossBackward", {"grad_out": y, "self": x, "target": y}, reduction="none", beta=1.0)
        r["grad_input"]

docs/python.md is the guide.
"""

from . import aio
from ._arrays import Spec
from ._client import Client, connect
from ._gradients import value_and_grad
from ._program import Program, Value, apply
from ._requests import Call, Plan, Result
from ._schema import Operator
from ._server import server
from ._session import Session
from ._shared_memory import SharedMemory
from .errors import (CallCancelledError, CallTimeoutError, InternalError, InvalidArgumentError, NotFoundError, OpserveError,
                     ResourceError, UnavailableError, UnsupportedError)

__version__ = "0.1.0"
__all__ = ["Call", "CallCancelledError", "CallTimeoutError", "Client", "InternalError", "InvalidArgumentError", "NotFoundError",
           "Operator", "OpserveError", "Plan", "Program", "ResourceError", "Result", "Session", "SharedMemory", "Spec", "UnavailableError",
           "UnsupportedError", "Value", "aio", "apply", "connect", "server", "value_and_grad"]
