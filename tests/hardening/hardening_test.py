"""Every program and shared library of a build is hardened: read from the files themselves.

Usage: hardening_test.py CMAKE      the build under test ($OPSERVE_BIN_DIR) and what it installs, unless it has sanitizers; then
                                    a small project that uses cmake/opserve.cmake with CMake's own build types and no
                                    flags of a preset
       hardening_test.py FOLDER     a build folder alone, as it is (scripts/test --all: build/release)

A build with sanitizers is not hardened: they find the same mistakes sooner. Asked of programs that have their symbol table: that
`main` begins with a landing pad; libraries have their functions' names in any case.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))

import elf_file as elf
import outside_build
import running_server

# endbr64; bti c, paciasp.
LANDING_PADS = {elf.EM_X86_64: [b"\xf3\x0f\x1e\xfa"], elf.EM_AARCH64: [b"\x5f\x24\x03\xd5", b"\x3f\x23\x03\xd5"]}
FLAGS = {"x86_64": "-fcf-protection=full", "aarch64": "-mbranch-protection=standard"}
FORTIFIED = re.compile(r"__(?!stack_)\w+_chk$")
INDEX_CHECK = "_ZSt21__glibcxx_assert_failPKciS0_S0_"
# A small program may well call nothing that is checked.
CALLS_WHAT_IS_CHECKED = re.compile(r"opserve(-server)?$|libopserve_acl|(lib)?probe")
PROBE = {
    "CMakeLists.txt": """cmake_minimum_required(VERSION 3.25)
project(opserve VERSION 0.1.0 LANGUAGES CXX)
list(APPEND CMAKE_MODULE_PATH {root}/cmake)
include(opserve)
opserve_binary(probe SRCS probe.cc)
opserve_shared_library(probe_library SRCS library.cc EXPORTS exports.map)
""",
    "probe.cc": """#include <array>
#include <cstdio>
#include <cstring>
int main(int argc, char** argv) {{
  char text[64];
  std::strcpy(text, argv[argc - 1]);
  text[0] = std::array<char, 3>{{'a', 'b', 'c'}}[static_cast<unsigned>(argc)];
  return std::puts(text);
}}
""",
    "library.cc": """#include <cstring>
#include <string_view>
extern "C" unsigned long probe_length(const char* from, unsigned long size) {{
  char text[64];
  std::memcpy(text, from, size);
  text[0] = std::string_view(from, size)[size / 2];
  return std::strlen(text);
}}
""",
    "exports.map": "{{ global: probe_*; local: *; }};\n",
}


def fail(problems):
    if problems:
        sys.exit("\n".join(problems))


def is_program(file):
    return bool(file.dynamic_flags(elf.DT_FLAGS_1) & elf.DF_1_PIE)


def layout_problems(file):
    """What the loader makes of it."""
    if file.type != elf.ET_DYN:
        yield "is bound to one address (not PIE)"
        return
    if not file.segments_of(elf.PT_GNU_RELRO):
        yield "has no RELRO"
    now = (file.dynamic_values(elf.DT_BIND_NOW) or file.dynamic_flags(elf.DT_FLAGS) & elf.DF_BIND_NOW or
           file.dynamic_flags(elf.DT_FLAGS_1) & elf.DF_1_NOW)
    if not now:
        yield "binds lazily (no BIND_NOW), so that its RELRO is not full"
    stacks = file.segments_of(elf.PT_GNU_STACK)
    if not stacks or any(segment.flags & elf.PF_X for segment in stacks):
        yield "has an executable stack"
    if any(segment.flags & elf.PF_W and segment.flags & elf.PF_X for segment in file.segments_of(elf.PT_LOAD)):
        yield "has a segment that is writable and executable"
    if file.dynamic_values(elf.DT_TEXTREL):
        yield "has its code relocated (TEXTREL)"


def path_problems(file, allowed):
    """`allowed`: the only folder in which libraries are looked for besides the system's and $ORIGIN."""
    for tag in (elf.DT_RPATH, elf.DT_RUNPATH):
        for path in ":".join(file.dynamic_strings(tag)).split(":"):
            inside = allowed is not None and pathlib.Path(path).is_relative_to(allowed)
            if path and not path.startswith("$ORIGIN") and not inside:
                yield f"looks for libraries in {path}"


def code_problems(file, checked, fortified):
    """What the compiler made of it; `checked`: it has calls that the libraries' checks are for."""
    undefined = file.undefined()
    if "__stack_chk_fail" not in undefined:
        yield "has no stack protector"
    if checked and INDEX_CHECK not in undefined:
        yield "has none of libstdc++'s checks (_GLIBCXX_ASSERTIONS)"
    if checked and fortified and not any(FORTIFIED.match(name) for name in undefined):
        yield "has none of libc's checks (_FORTIFY_SOURCE)"
    yield from entry_problems(file)


def entry_problems(file):
    """Calls through pointers land where functions begin."""
    if is_program(file):
        entries = [symbol for symbol in file.symbols(elf.SHT_SYMTAB) if symbol.name == "main"]
    else:
        entries = [symbol for symbol in file.symbols(elf.SHT_DYNSYM) if symbol.is_function and symbol.section != 0]
        if not entries:
            yield "has no function to call"
    pads = LANDING_PADS.get(file.machine)
    bare = [symbol.name for symbol in entries if pads and file.code_at(symbol.address, 4) not in pads]
    if bare:
        yield f"{len(bare)} of {len(entries)} functions begin without a landing pad for indirect calls: {bare[0]}, …"


def problems_of(paths, fortified, allowed=None):
    paths = [path for path in paths if path.is_file() and not path.is_symlink() and elf.is_elf(path)]
    if not paths:
        yield "no program or library to check"
    for path in paths:
        file = elf.ElfFile(path)
        checked = CALLS_WHAT_IS_CHECKED.match(path.name)
        for problem in [*layout_problems(file), *path_problems(file, allowed), *code_problems(file, checked, fortified)]:
            yield f"{path}: {problem}"
    print(f"{len(paths)} files checked, {'with' if fortified else 'without'} libc's checks: "
          f"{', '.join(sorted(path.name for path in paths))}")


def run(*command, env=None):
    result = subprocess.run([str(word) for word in command], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True, timeout=240, check=False)
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: status {result.returncode}:\n{result.stdout}")


def cache_value(build, name):
    found = re.search(rf"^{name}:\w+=(.*)$", (build / "CMakeCache.txt").read_text(encoding="utf-8"), re.MULTILINE)
    return found.group(1) if found else ""


def is_sanitized(build):
    return cache_value(build, "OPSERVE_SANITIZE") != ""


def is_fortified(build):
    return cache_value(build, "CMAKE_BUILD_TYPE") != "Debug"


def check_build(build):
    fail([*problems_of([*(build / "bin").iterdir(), *(build / "lib").glob("*.so*")], is_fortified(build), build)])


def check_commands(build):
    """No target was left out: generated code, libraries and tests have the same flags."""
    wanted = ["-fstack-protector-strong", "-fstack-clash-protection", FLAGS.get(os.uname().machine, "")]
    wanted += ["-D_GLIBCXX_ASSERTIONS"]
    wanted += ["-D_FORTIFY_SOURCE="] if is_fortified(build) else []
    commands = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    fail([f"{entry['file']}: compiled without {flag}" for entry in commands for flag in wanted
          if flag not in entry["command"]] or ([] if commands else ["no compile commands"]))


def check_installed(cmake, build, work):
    for component in ("runtime", "acl", "acl-remote"):
        run(cmake, "--install", build, "--prefix", work / "installed", "--component", component)
    files = [path for path in (work / "installed").rglob("*") if path.suffix not in (".h", ".cc", ".cmake")]
    fail([*problems_of(files, is_fortified(build))])


def check_packagers_build(cmake, build, work):
    """A project of two files, built as somebody else builds: what matters is what cmake/opserve.cmake says."""
    project = work / "probe"
    project.mkdir()
    for name, text in PROBE.items():
        (project / name).write_text(text.format(root=ROOT), encoding="utf-8")
    without = {key: value for key, value in outside_build.environment(build).items() if key not in ("CXXFLAGS", "LDFLAGS")}
    run(cmake, "-S", project, "-B", project / "build", "-G", "Ninja Multi-Config", env=without)
    for config in ("Release", "RelWithDebInfo", "Debug"):
        run(cmake, "--build", project / "build", "--config", config, env=without)
        folders = [project / "build" / room / config for room in ("bin", "lib")]
        files = [path for folder in folders for path in folder.iterdir()]
        fail([*problems_of(files, config != "Debug", project / "build")])


def main():
    if pathlib.Path(sys.argv[1]).is_dir():
        build = pathlib.Path(sys.argv[1]).resolve()
        check_commands(build)
        check_build(build)
        return
    cmake, build = sys.argv[1], running_server.build_folder()
    work = build / "hardening_test"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    if not is_sanitized(build):
        check_commands(build)
        check_build(build)
        check_installed(cmake, build, work)
    check_packagers_build(cmake, build, work)
    shutil.rmtree(work)


if __name__ == "__main__":
    main()
