"""`opserve`, and the example of the C++ library, against servers that mean harm: whatever these do, a command ends in time, with
one clear line and with bounded memory.

hostile_cases.py lists the attacks. Arguments: parts of the names of those to run; all without. -v: what each command said.
"""

import concurrent.futures
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "support"))
import running_server  # noqa: E402
from hostile_cases import EXAMPLE, all_cases, honest_cases  # noqa: E402
from hostile_server import hostile_server  # noqa: E402

AT_ONCE = 8
# Beyond a command's own time-out: starting a program takes its time on a busy machine.
GRACE_SECONDS = 8
KILL_SECONDS = 60
MOST_LINE_BYTES = 5000
SAMPLE_SECONDS = 0.004
# Memory that was freed is to be free: what is looked at is what a program needs.
# Leaks are looked for by the tests inside of a process: a thread of gRPC's that is just starting would be taken for one.
ASAN = "quarantine_size_mb=0:thread_local_quarantine_size_kb=0:malloc_context_size=2:detect_leaks=0"


def peak_mebibytes(pid):
    """Of all its memory until now; 0 when it is over."""
    try:
        for line in pathlib.Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    except OSError:
        pass
    return 0


class Ended:
    """A command that has: its exit code, what it wrote, how long it took, the most memory it had."""

    def __init__(self, case, target):
        command = [case.words[0], target] if case.words == EXAMPLE else ["opserve", *case.words, "--timeout", f"{case.timeout}s"]
        environment = dict(os.environ, ASAN_OPTIONS=ASAN, OPSERVE_TARGET=target)
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            start = time.monotonic()
            process = subprocess.Popen([running_server.bin_folder() / command[0], *command[1:]], stdin=subprocess.DEVNULL,
                                       stdout=out, stderr=err, env=environment)
            self.code, self.mebibytes = self._wait(process)
            self.seconds = time.monotonic() - start
            out.seek(0)
            err.seek(0)
            self.out, self.err = out.read(), err.read()

    def _wait(self, process):
        """Exit code and mebibytes. What the system tells at the end includes what this program had when it forked."""
        deadline = time.monotonic() + KILL_SECONDS
        most = 0
        while process.poll() is None:
            most = max(most, peak_mebibytes(process.pid))
            if time.monotonic() > deadline:
                process.kill()
            time.sleep(SAMPLE_SECONDS)
        return process.returncode, most


def is_harmless(text):
    """For a terminal."""
    try:
        return all(c == "\n" or (c.isprintable() and ord(c) not in range(0x80, 0xA0)) for c in text.decode())
    except UnicodeDecodeError:
        return False


def complaints(case, ended, base):
    """What is wrong with how the command ended."""
    if ended.code not in case.codes:
        yield f"exit code {ended.code}, want one of {case.codes}"
    lines = ended.err.decode(errors="replace").splitlines()
    if ended.code == 0 and lines:
        yield "an error, and exit code 0"
    begin = "" if case.words == EXAMPLE else "opserve: "
    if ended.code != 0 and (len(lines) != 1 or not lines[0].startswith(begin) or len(ended.err) > MOST_LINE_BYTES):
        yield f"want one line of error, got {len(lines)}"
    if case.says not in ended.err.decode(errors="replace"):
        yield f"want an error with '{case.says}'"
    if case.quiet and ended.out:
        yield "output where there is none to be"
    if not is_harmless(ended.out) or not is_harmless(ended.err):
        yield "control characters"
    if ended.seconds > case.timeout + GRACE_SECONDS:
        yield f"{ended.seconds:.1f} s, with a time-out of {case.timeout} s"
    if ended.mebibytes > base + case.mebibytes:
        yield f"{ended.mebibytes:.0f} MiB, want at most {base:.0f} + {case.mebibytes}"


def run(case, base):
    """Lines about what is wrong, and one about what happened."""
    with hostile_server(case.meet) as target:
        ended = Ended(case, target)
    return list(complaints(case, ended, base)), (f"{case.name}: exit code {ended.code}, {ended.seconds:.1f} s, "
                                                 f"{ended.mebibytes:.0f} MiB, {ended.err[-400:]}")


def main():
    parts = [word for word in sys.argv[1:] if not word.startswith("-")]
    base = 0
    for case in honest_cases():
        with hostile_server(case.meet) as target:
            ended = Ended(case, target)
        if ended.code != 0:
            sys.exit(f"{case.name}: {ended.err.decode()}")
        base = max(base, ended.mebibytes)
    cases = [case for case in all_cases() if not parts or any(part in case.name for part in parts)]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        for found, summary in pool.map(lambda case: run(case, base), cases):
            if found or "-v" in sys.argv:
                print(summary, *found, sep="\n    ", flush=True)
            failed += bool(found)
    print(f"{len(cases)} attacks, {failed} of them with success; an honest server: {base:.0f} MiB")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
