"""A seccomp profile as container engines read it (OCI, or docker's), as the kernel's program; as much of the format as ours uses."""

import ctypes
import errno
import json
import os
import re
import struct
import subprocess

PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, SECCOMP_MODE_FILTER = 22, 38, 2
ALLOW, ERRNO, KILL_PROCESS = 0x7FFF0000, 0x00050000, 0x80000000
LOAD, AND, RETURN = 0x20, 0x54, 0x06
JUMP_EQUAL, JUMP_AT_LEAST = 0x15, 0x35
AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
X32_CALLS = 0x40000000  # the other numbers of x86-64's kernel
NUMBER_AT, ARCH_AT, ARGUMENTS_AT = 0, 4, 16

libc = ctypes.CDLL(None, use_errno=True)


class Unavailable(Exception):
    """This kernel, or what it runs in, lets no process filter its calls."""


def call_numbers(compiler):
    """Name → number, of this machine's system calls, by its headers."""
    text = subprocess.run([compiler, "-dM", "-E", "-x", "c", "-include", "asm/unistd.h", "/dev/null"], check=True, timeout=60,
                          stdout=subprocess.PIPE, text=True).stdout
    macros = dict(re.findall(r"^#define (__NR\w+) (\S+)$", text, re.MULTILINE))
    numbers = {}
    for macro, value in macros.items():
        while value in macros:
            value = macros[value]
        if macro.startswith("__NR_") and value.isdigit():
            numbers[macro.removeprefix("__NR_")] = int(value)
    return numbers


def load_profile(path):
    return json.loads(path.read_text(encoding="utf-8"))


def allowed_names(profile):
    return {name for rule in profile["syscalls"] for name in rule["names"]}


def _instruction(code, value, if_true=0, if_false=0):
    return struct.pack("<HBBI", code, if_true, if_false, value)


def _return(action):
    return _instruction(RETURN, action)


def _argument_tests(argument):
    """Pairs of a load, with a mask where there is one, and the value that it must give."""
    value, op = argument["value"], argument["op"]
    wanted = argument["valueTwo"] if op == "SCMP_CMP_MASKED_EQ" else value
    if op not in ("SCMP_CMP_EQ", "SCMP_CMP_MASKED_EQ"):
        raise ValueError(f"unknown comparison {op}")
    for half in (0, 1):
        shift = 32 * half
        load = [_instruction(LOAD, ARGUMENTS_AT + 8 * argument["index"] + 4 * half)]
        if op == "SCMP_CMP_MASKED_EQ":
            load.append(_instruction(AND, value >> shift & 0xFFFFFFFF))
        yield load, wanted >> shift & 0xFFFFFFFF


def _rule(number, arguments):
    """Allows the call `number` with these arguments; what follows decides about others."""
    tests = [([_instruction(LOAD, NUMBER_AT)], number)]
    for argument in arguments:
        tests.extend(_argument_tests(argument))
    program = [_return(ALLOW)]
    for load, value in reversed(tests):
        program = [*load, _instruction(JUMP_EQUAL, value, 0, len(program)), *program]
    return program


def compile_filter(profile, numbers, more_names=()):
    """The kernel's program: `profile`, and the calls `more_names`. Names that this machine has no call of are left out."""
    if profile["defaultAction"] != "SCMP_ACT_ERRNO" or any(rule["action"] != "SCMP_ACT_ALLOW" for rule in profile["syscalls"]):
        raise ValueError("want a profile that allows some calls and refuses the others")
    refuse = _return(ERRNO | profile["defaultErrnoRet"])
    program = [_instruction(LOAD, ARCH_AT), _instruction(JUMP_EQUAL, AUDIT_ARCH[os.uname().machine], 1, 0),
               _return(KILL_PROCESS), _instruction(LOAD, NUMBER_AT), _instruction(JUMP_AT_LEAST, X32_CALLS, 0, 1), refuse]
    for rule in [*profile["syscalls"], {"names": more_names}]:
        for name in rule["names"]:
            if name in numbers:
                program += _rule(numbers[name], rule.get("args", []))
    return b"".join([*program, refuse])


def install(program):
    """For this thread and what it starts, for good."""
    code = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("@HP", len(program) // 8, ctypes.addressof(code))
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 or libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, header) != 0:
        raise Unavailable(errno.errorcode[ctypes.get_errno()])
