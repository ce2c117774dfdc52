"""Streams of reflection on a server whose user may have few more threads (ulimit -u): each asks for a thread, and one
day there is none.

Before: the process aborted as it stopped, in gRPC's thread manager.
"""

import os
import pathlib
import resource

import reflection_threads
from attack import Attack, run, skip


def threads_of_user() -> int:
    count = 0
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if process.stat().st_uid == os.getuid():
                count += len(os.listdir(process / "task"))
        except OSError:
            pass
    return count


if __name__ == "__main__":
    if os.geteuid() == 0:
        skip("root may have as many threads as it likes; an ordinary user may not")
    run(Attack([reflection_threads.open_reflection], limits={resource.RLIMIT_NPROC: threads_of_user() + 150}))
