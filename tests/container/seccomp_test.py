"""opserve-server and opserve do all they do under deploy/container/seccomp.json, and what they do not do is refused. The profile
becomes the kernel's filter here (seccomp_filter.py): no container engine takes part.

Usage: seccomp_test.py serves|refuses|agrees
"""

import ctypes
import errno
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))

import outside_build
import running_server
import seccomp_filter
import toolchains

PROFILE = ROOT / "deploy/container/seccomp.json"
UNIT = ROOT / "deploy/systemd/opserve.service"
PATIENCE_SECONDS = 60
SAMPLE = ["SmoothL1LossBackward", "-i", "grad_out=f32[4,2]=1", "-i", "self=f32[4,2]{0,1,2,3,4,5,6,7}", "-i", "target=f32[4,2]=1",
          "-a", "reduction=0", "-a", "beta=1"]
LARGE = ["SmoothL1LossBackward", "-i", "grad_out=f32[4000,2000]=1", "-i", "self=f32[4000,2000]=2", "-i",
         "target=f32[4000,2000]=1", "-a", "reduction=0", "-a", "beta=1"]
GRADIENT = "grad_input f32[4,2]\n[[-1  0]\n [ 1  1]\n [ 1  1]\n [ 1  1]]\n"
# What AddressSanitizer's runtime does besides, in builds that have it: it reads its own mappings, and wants no core file. To look
# for leaks it would also trace itself: not here.
OF_SANITIZERS = ["open", "prlimit64"]
WITHOUT_LEAK_CHECK = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0"}


def expect(condition, message):
    if not condition:
        sys.exit(message)


def is_sanitized(build):
    cache = (build / "CMakeCache.txt").read_text(encoding="utf-8")
    return bool(re.search(r"^OPSERVE_SANITIZE:\w+=.", cache, re.MULTILINE))


def program_of(build, more_names=()):
    compiler = outside_build.environment(build)["CC"]
    return seccomp_filter.compile_filter(seccomp_filter.load_profile(PROFILE), seccomp_filter.call_numbers(compiler), more_names)


def check_available():
    """A child tries the mildest filter there is."""
    pid = os.fork()
    if pid == 0:
        try:
            seccomp_filter.install(b"\x06\x00\x00\x00\x00\x00\xff\x7f")
        except seccomp_filter.Unavailable as error:
            print(f"prctl(PR_SET_SECCOMP): {error}", flush=True)
            os._exit(1)
        os._exit(0)
    if os.waitpid(pid, 0)[1] != 0:
        toolchains.skip("no process can filter its system calls here (above)")


class Filtered:
    """Starts programs of the build under the filter."""

    def __init__(self, build):
        self._program = program_of(build, OF_SANITIZERS if is_sanitized(build) else [])

    def start(self, name, *arguments, **options):
        return subprocess.Popen([running_server.bin_folder() / name, *arguments], env=WITHOUT_LEAK_CHECK, text=True,
                                stdin=subprocess.DEVNULL, close_fds=False, stderr=subprocess.STDOUT,
                                preexec_fn=lambda: seccomp_filter.install(self._program), **options)

    def opserve(self, *arguments):
        with self.start("opserve", *arguments, stdout=subprocess.PIPE) as process:
            output = process.communicate(timeout=PATIENCE_SECONDS)[0]
        expect(process.returncode == 0, f"opserve {arguments}: status {process.returncode}:\n{output}")
        return output


def wait_for(path, server, log):
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not path.exists():
        alive = server.poll() is None and time.monotonic() < deadline
        expect(alive, f"the server did not start:\n{log.read_text(encoding='utf-8')}")
        time.sleep(0.02)


def check_calls(filtered, addresses):
    for address in addresses:
        for how in ([], ["--session"]):
            output = filtered.opserve("run", *how, *SAMPLE, "--target", address)
            expect(output == GRADIENT, f"want the sample's gradient, got:\n{output}")
        filtered.opserve("run", *LARGE, "--target", address)
        for command in ("info", "ops", "devices", "stats"):
            filtered.opserve(command, "--target", address)


def check_shared_memory_and_drain(filtered, server, address):
    """Calls on shared memory are under way while the server drains."""
    with filtered.start("shared_memory_noise", address, stdout=subprocess.PIPE) as client:
        expect("running" in client.stdout.readline(), "no call on shared memory succeeded")
        server.send_signal(signal.SIGTERM)
        status = server.wait(PATIENCE_SECONDS)
        expect(status == 0, f"after SIGTERM the server ended with status {status}")
        expect(client.wait(PATIENCE_SECONDS) == 0, "the client on shared memory did not end well")


def check_serves(folder, build):
    filtered = Filtered(build)
    port_file, log, config = folder / "addresses", folder / "log", folder / "server.ini"
    config.write_text('memory-limit = "256MiB"\n', encoding="utf-8")
    listen = [word for address in ("localhost:0", "127.0.0.1:0", f"unix:{folder}/socket") for word in ("--listen", address)]
    with open(log, "w", encoding="utf-8") as output:
        server = filtered.start("opserve-server", *listen, "--port-file", port_file, "--config", config, "--grace-period", "100ms",
                                "--allow-shared-memory", f"unix:{folder}/memory", stdout=output)
    try:
        wait_for(port_file, server, log)
        check_calls(filtered, port_file.read_text(encoding="utf-8").split())
        check_shared_memory_and_drain(filtered, server, f"unix:{folder}/socket")
    finally:
        if server.poll() is None:
            server.kill()
            server.wait()
    text = log.read_text(encoding="utf-8")
    expect("msg=stopped" in text and "level=error" not in text, f"want a log without errors that ends well, got:\n{text}")
    left = {path.name for path in folder.iterdir()} - {"addresses", "log", "server.ini"}
    expect(not left, f"the server left {left}")


# Calls that must be refused, with arguments that harm nothing where they are not: name → arguments.
AF_NETLINK, AF_PACKET, AF_VSOCK, NETLINK_NETFILTER = 16, 17, 40, 12
SIGCHLD, TIOCSTI, PROT_READ_EXEC, PROT_ALL, MAP_PRIVATE_ANONYMOUS = 17, 0x5412, 5, 7, 0x22
REFUSED = [(name, [-1, 0, 0, 0, 0]) for name in (
    "execveat", "ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "mount", "umount2", "pivot_root", "chroot",
    "bpf", "perf_event_open", "userfaultfd", "io_uring_setup", "io_uring_enter", "io_uring_register", "unshare", "setns", "keyctl",
    "add_key", "request_key", "init_module", "finit_module", "delete_module", "kexec_load", "open_by_handle_at", "reboot",
    "swapon", "sethostname", "settimeofday", "clock_settime", "setuid", "setgid", "setgroups", "capset", "personality", "acct",
    "quotactl", "syslog", "nfsservctl", "kcmp", "seccomp", "landlock_create_ruleset", "shmget", "msgget", "mknodat", "symlinkat",
    "linkat", "mkdirat", "fchownat", "truncate", "kill", "clone3", "pidfd_open", "memfd_secret", "fork", "vfork")]
REFUSED += [("socket", [AF_PACKET, 3, 0]), ("socket", [AF_VSOCK, 1, 0]), ("socket", [AF_NETLINK, 3, NETLINK_NETFILTER]),
            ("clone", [SIGCHLD, 0, 0, 0, 0]), ("ioctl", [0, TIOCSTI, 0]), ("prctl", [4, 0, 0, 0, 0]),
            ("mmap", [0, 4096, PROT_ALL, MAP_PRIVATE_ANONYMOUS, -1, 0])]


def refusals(numbers, errno_wanted):
    """Runs under the filter: what was not refused."""
    call = seccomp_filter.libc.syscall
    call.restype = ctypes.c_long
    page = ctypes.create_string_buffer(8192)
    inside = ctypes.addressof(page) + 4095 & ~4095
    for name, arguments in [*REFUSED, ("mprotect", [inside, 4096, PROT_READ_EXEC])]:
        if name not in numbers:
            continue
        ctypes.set_errno(0)
        result = call(*[ctypes.c_long(number) for number in (numbers[name], *arguments)])
        if result == 0 and name in ("fork", "vfork", "clone") and os.getpid() != PARENT[0]:
            os._exit(0)
        if result != -1 or ctypes.get_errno() != errno_wanted:
            yield f"{name}{tuple(arguments)} was not refused: {result}, {errno.errorcode.get(ctypes.get_errno(), 'no error')}"


PARENT = [0]


def check_refuses(_folder, build):
    profile = seccomp_filter.load_profile(PROFILE)
    numbers = seccomp_filter.call_numbers(outside_build.environment(build)["CC"])
    program = seccomp_filter.compile_filter(profile, numbers)
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        PARENT[0] = os.getpid()
        seccomp_filter.install(program)
        os.write(writing, "\n".join([*refusals(numbers, profile["defaultErrnoRet"]), "end"]).encode())
        os._exit(0)
    os.close(writing)
    with open(reading, encoding="utf-8") as pipe:
        told = pipe.read()
    os.waitpid(pid, 0)
    expect(told == "end", told or "the process under the filter ended early")


def check_agrees(_folder, _build):
    """systemd's unit allows what the profile allows, and no call besides."""
    words = re.findall(r"^SystemCallFilter=(.*)$", UNIT.read_text(encoding="utf-8"), re.MULTILINE)
    listed = " ".join(words).split()
    expect(len(listed) == len(set(listed)), f"{UNIT.name}: a call twice: {sorted(listed)}")
    allowed = seccomp_filter.allowed_names(seccomp_filter.load_profile(PROFILE))
    differing = set(listed) ^ allowed
    expect(not differing, f"{UNIT.name} and {PROFILE.name} differ in {sorted(differing)}")


def main():
    checks = {"serves": check_serves, "refuses": check_refuses, "agrees": check_agrees}
    if sys.argv[1] != "agrees":
        check_available()
    with tempfile.TemporaryDirectory(prefix="opserve-") as folder:
        checks[sys.argv[1]](pathlib.Path(folder), running_server.build_folder())


if __name__ == "__main__":
    main()
