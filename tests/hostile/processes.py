"""Processes that go with the one that made them."""

import ctypes
import os
import signal
import time
import traceback
from collections.abc import Callable

PR_SET_PDEATHSIG = 1


def spawn(function: Callable, *arguments) -> int:
    """Runs it in a process of its own, which ends with it; the process's id."""
    parent = os.getpid()
    pid = os.fork()
    if pid != 0:
        return pid
    status = 1
    try:
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() == parent:
            function(*arguments)
            status = 0
    except KeyboardInterrupt:
        pass
    except BaseException:
        traceback.print_exc()
        time.sleep(0.2)
    finally:
        os._exit(status)


def reap(pids: list[int]) -> None:
    """Ends them, if they have not ended."""
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    for pid in pids:
        os.waitpid(pid, 0)
