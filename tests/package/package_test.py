"""Installs the build under test, moves what was installed, and uses it there.

Usage: package_test.py CMAKE find_package|pkg_config|components     (the programs are in $OPSERVE_BIN_DIR)

find_package, pkg_config: builds client/cpp/example that way, then runs the examples against the installed server; with find_package
also a source for each installed header, that includes only it, and with pkg_config one that includes all.
components: each component holds its own files and no other.
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
import running_server
import toolchains

# What the programs of client/cpp/example print.
PROGRAMS = {
    "gradient": "grad_input -1 0 1 1 1 1 1 1\n",
    "session": "".join(f"result[{i}] is: {value:f}\n" for i, value in enumerate([-1, 0, 1, 1, 1, 1, 1, 1])),
}
COMPONENTS = {
    "runtime": ["bin/opserve", "bin/opserve-server", "share/doc/opserve/LICENSE",
                "share/opserve/scenarios/tiny_calls.yaml", "share/man/man1/opserve.1", "share/man/man8/opserve-server.8"],
    "development": ["include/opserve/client.h", "lib*/libopserve_client.a", "lib*/pkgconfig/opserve-client.pc",
                    "lib*/cmake/opserve/opserve-config.cmake", "share/opserve/proto/opserve/v1/types.proto",
                    "share/opserve/proto/google/rpc/status.proto"],
    "documentation": ["share/doc/opserve/README.md", "share/doc/opserve/docs/errors.md",
                      "share/doc/opserve/docs/drawings/call.svg",
                      "share/doc/opserve/example/gradient.cc"],
    "acl": ["lib*/libopserve_acl.so.0", "lib*/opserve/ascend/libascendcl.so"],
    # The first is a link that leads into acl: a pattern finds it, a name would not.
    "acl-development": ["lib*/libopserve_acl.s[o]", "include/opserve-acl/acl/acl.h",
                        "lib*/cmake/opserve-acl/opserve-acl-config.cmake", "lib*/pkgconfig/opserve-acl.pc",
                        "share/doc/opserve/acl-samples/sample.h"],
    "acl-remote": ["lib*/libopserve_acl_remote.so.0"],
}


def run(*command, env=None):
    """The command's output; ends the test when it fails."""
    print("$", *command)
    result = subprocess.run([str(word) for word in command], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True, timeout=240, check=False)
    if result.returncode != 0:
        sys.exit(f"status {result.returncode}:\n{result.stdout}")
    return result.stdout


def install(cmake, build, prefix, *flags):
    run(cmake, "--install", build, "--prefix", prefix, *flags)
    return prefix


def check_names_no_folder(prefix, folders):
    """No text below `prefix` names one of `folders`: neither the tree nor the place of the installation."""
    texts = [file for pattern in ("*.cmake", "*.pc") for file in prefix.rglob(pattern)]
    named = [f"{file}: {folder}" for file in texts for folder in folders
             if str(folder) in file.read_text(encoding="utf-8")]
    if named or not texts:
        sys.exit("\n".join(["installed files that would not survive a move:", *named]))


def installed_headers(prefix):
    """As a program includes them."""
    folders = [prefix / "include", prefix / "include/opserve-core"]
    headers = [header.relative_to(folder).as_posix() for folder, pattern in zip(folders, ["opserve/*.h", "**/*.h"])
               for header in sorted(folder.glob(pattern))]
    if len(headers) < 10:
        sys.exit(f"no headers in {folders}")
    return headers


def copy_example(prefix, folder):
    """The installed sample of the C++ client, and beside it a library of a source for each installed header, that includes only it."""
    shutil.copytree(prefix / "share/doc/opserve/example", folder)
    sources = []
    for header in installed_headers(prefix):
        sources.append(header.replace("/", "_") + ".cc")
        (folder / sources[-1]).write_text(f"#include <{header}>\n", encoding="utf-8")
    with open(folder / "CMakeLists.txt", "a", encoding="utf-8") as file:
        file.write(f"add_library(headers OBJECT {' '.join(sources)})\n"
                   "target_compile_options(headers PRIVATE -O0 -fno-sanitize=all)\n"
                   "target_link_libraries(headers PRIVATE opserve::client)\n")


def build_with_find_package(cmake, prefix, folder, env):
    copy_example(prefix, folder / "example")
    run(cmake, "-S", folder / "example", "-B", folder / "build", "-D", f"CMAKE_PREFIX_PATH={prefix}", env=env)
    run(cmake, "--build", folder / "build", env=env)
    return folder / "build"


def build_with_pkg_config(_cmake, prefix, folder, env):
    if not shutil.which("pkg-config"):
        toolchains.lacking("pkg-config")
    example = prefix / "share/doc/opserve/example"
    headers = folder / "headers.cc"
    headers.write_text("".join(f"#include <{header}>\n" for header in installed_headers(prefix)), encoding="utf-8")
    pc = next(prefix.rglob("opserve-client.pc"))
    env = {**env, "PKG_CONFIG_PATH": str(pc.parent)}
    compiler = [env["CXX"], "-std=c++20", *shlex.split(env["CXXFLAGS"])]
    cflags = shlex.split(run("pkg-config", "--cflags", "opserve-client", env=env))
    libs = shlex.split(run("pkg-config", "--libs", "opserve-client", env=env))
    run(*compiler, "-fsyntax-only", *cflags, headers, env=env)
    for program in PROGRAMS:
        run(*compiler, *cflags, example / f"{program}.cc", "-o", folder / program, *libs, env=env)
    return folder


def check_example(build_example, cmake, build, work):
    installed = install(cmake, build, work / "first")
    prefix = installed.rename(work / "moved")
    check_names_no_folder(prefix, [ROOT, work])
    programs = build_example(cmake, prefix, work, outside_build.environment(build))
    os.environ["OPSERVE_BIN_DIR"] = str(prefix / "bin")
    with running_server.running_server(work) as address:
        printed = {program: run(programs / program, address) for program in PROGRAMS}
        version = run(prefix / "bin/opserve", "info", "--target", address)
    if printed != PROGRAMS or "version" not in version:
        sys.exit(f"want {PROGRAMS!r} and a version, got {printed!r} and {version!r}")


def check_components(cmake, build, work):
    for component, wanted in COMPONENTS.items():
        prefix = install(cmake, build, work / component, "--component", component)
        for pattern in wanted:
            if not any(prefix.glob(pattern)):
                sys.exit(f"component {component} lacks {pattern}")
        foreign = [pattern for other, patterns in COMPONENTS.items() if other != component for pattern in patterns
                   if any(prefix.glob(pattern))]
        if foreign:
            sys.exit(f"component {component} has what is another's: {foreign}")


def main():
    cmake, way = sys.argv[1:]
    build = running_server.build_folder()
    work = build / "package_test" / way
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    if way == "components":
        check_components(cmake, build, work)
    else:
        check_example({"find_package": build_with_find_package, "pkg_config": build_with_pkg_config}[way], cmake, build, work)
    shutil.rmtree(work)


if __name__ == "__main__":
    main()
