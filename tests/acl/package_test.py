"""Installs the C interface of the build under test, moves what was installed, and uses it there.

Usage: package_test.py CMAKE find_package|pkg_config|field     (the build is that of $OPSERVE_BIN_DIR)

Builds client/acl/samples/l1_loss_backward.c against the installed tree alone: with find_package(opserve-acl), with
pkg-config, or as programs for CANN do, with -lascendcl; and runs it.
"""

import os
import pathlib
import shlex
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))

import outside_build
import toolchains

SAMPLE = "l1_loss_backward"
PRINTED = "grad_input -0.250 0.000 0.250 0.250\n"
PROJECT = """cmake_minimum_required(VERSION 3.25)
project(sample LANGUAGES C)
find_package(opserve-acl REQUIRED)
if(NOT EXISTS ${opserve-acl_ASCEND_LIBRARY_DIR}/libascendcl.so)
  message(FATAL_ERROR "no libascendcl.so in ${opserve-acl_ASCEND_LIBRARY_DIR}")
endif()
add_executable(sample sample.c)
target_link_libraries(sample PRIVATE opserve::acl)
"""


def run(*command, env=None):
    """The command's output; ends the test when it fails."""
    print("$", *command)
    result = subprocess.run([str(word) for word in command], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True, timeout=240, check=False)
    if result.returncode != 0:
        sys.exit(f"status {result.returncode}:\n{result.stdout}")
    return result.stdout


def install(cmake, build, work):
    for component in ("acl", "acl-development"):
        run(cmake, "--install", build, "--prefix", work / "first", "--component", component)
    return (work / "first").rename(work / "moved")


def build_with_find_package(cmake, prefix, work, env, sample):
    project = work / "project"
    project.mkdir()
    (project / "CMakeLists.txt").write_text(PROJECT, encoding="utf-8")
    shutil.copy(sample, project / "sample.c")
    flags = {**env, "CFLAGS": env["CXXFLAGS"]}
    run(cmake, "-S", project, "-B", work / "build", "-D", f"CMAKE_PREFIX_PATH={prefix}", env=flags)
    run(cmake, "--build", work / "build", env=flags)
    return work / "build/sample"


def compile_sample(work, env, sample, *flags):
    run(env["CC"], *shlex.split(env["CXXFLAGS"]), sample, "-o", work / "sample", *flags, env=env)
    return work / "sample"


def build_with_pkg_config(_cmake, prefix, work, env, sample):
    if not shutil.which("pkg-config"):
        toolchains.lacking("pkg-config")
    env = {**env, "PKG_CONFIG_PATH": str(next(prefix.rglob("opserve-acl.pc")).parent)}
    return compile_sample(work, env, sample, *shlex.split(run("pkg-config", "--cflags", "--libs", "opserve-acl", env=env)))


def build_as_the_field_does(_cmake, prefix, work, env, sample):
    names = next(prefix.rglob("libascendcl.so")).parent
    return compile_sample(work, env, sample, "-I", prefix / "include/opserve-acl", "-L", names, "-lascendcl", "-lnnopbase",
                          "-lopapi", f"-Wl,-rpath-link,{library_folder(prefix)}")


def library_folder(prefix):
    return next(prefix.rglob("libopserve_acl.so.0")).parent


WAYS = {"find_package": build_with_find_package, "pkg_config": build_with_pkg_config, "field": build_as_the_field_does}


def main():
    cmake, way = sys.argv[1:]
    build = pathlib.Path(os.environ["OPSERVE_BIN_DIR"]).parent
    work = build / "acl_package_test" / way
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    prefix = install(cmake, build, work)
    env = outside_build.environment(build)
    program = WAYS[way](cmake, prefix, work, env, ROOT / f"client/acl/samples/{SAMPLE}.c")
    # Where the names themselves are what the loader is asked for, as by programs that were linked with the vendor's.
    folder = next(prefix.rglob("libascendcl.so")).parent
    loader = {**os.environ, "LD_LIBRARY_PATH": f"{library_folder(prefix)}:{folder}"}
    printed = run(program, env=loader)
    if printed != PRINTED:
        sys.exit(f"want {PRINTED!r}, got {printed!r}")
    shutil.rmtree(work)


if __name__ == "__main__":
    main()
