"""Makes the Debian packages twice, holds them to what they should be, and uses what is in them.

Usage: packages_test.py BUILD      a build folder that has all that is installed (scripts/test --all: build/release)

Equal bytes both times, lintian without errors, files where Debian wants them, and a server out of its package that
answers the command out of its own. packages_debian_test.py installs them.
"""

import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))

import running_server
import toolchains

PACKAGES = [
    "opserve-server",
    "opserve-client",
    "libopserve-dev",
    "libopserve-acl0",
    "libopserve-acl-remote",
    "libopserve-acl-dev",
    "opserve-doc",
]
# Of each package, files that it must hold.
WANTED = {
    "opserve-server": [
        "usr/bin/opserve-server",
        "usr/share/man/man8/opserve-server.8.gz",
        "lib/systemd/system/opserve.service",
        "etc/default/opserve",
    ],
    "opserve-client": [
        "usr/bin/opserve",
        "usr/share/man/man1/opserve.1.gz",
        "usr/share/opserve/scenarios/tiny_calls.yaml",
    ],
    "libopserve-dev": [
        "usr/include/opserve/client.h",
        "usr/lib/libopserve_client.a",
        "usr/lib/pkgconfig/opserve-client.pc",
        "usr/lib/cmake/opserve/opserve-config.cmake",
        "usr/share/opserve/proto/opserve/v1/types.proto",
    ],
    "libopserve-acl0": ["usr/lib/libopserve_acl.so.0", "usr/lib/opserve/ascend/libascendcl.so"],
    "libopserve-acl-remote": ["usr/lib/libopserve_acl_remote.so.0"],
    "libopserve-acl-dev": [
        "usr/lib/libopserve_acl.so",
        "usr/include/opserve-acl/acl/acl.h",
        "usr/include/opserve-acl/aclnnop/aclnn_l1_loss_backward.h",
        "usr/lib/pkgconfig/opserve-acl.pc",
        "usr/lib/cmake/opserve-acl/opserve-acl-config.cmake",
        "usr/share/doc/opserve/acl-samples/sample.h",
    ],
    "opserve-doc": [
        "usr/share/doc/opserve/README.md",
        "usr/share/doc/opserve/docs/operations.md",
        "usr/share/doc/opserve/CHANGELOG.md",
        "usr/share/doc/opserve/deploy/README.md",
    ],
}
SCRIPTS = ["conffiles", "postinst", "prerm", "postrm"]
EPOCH = "1700000000"
ACL_SAMPLE = "l1_loss_backward"
ACL_PRINTED = "grad_input -0.250 0.000 0.250 0.250\n"
SAMPLE = [
    "run",
    "SmoothL1LossBackward",
    "-i",
    "grad_out=f32[4,2]=1",
    "-i",
    "self=f32[4,2]{0,1,2,3,4,5,6,7}",
    "-i",
    "target=f32[4,2]=1",
    "-a",
    "reduction=mean",
    "-a",
    "beta=1",
]


def run(*command, env=None, timeout=300):
    """The command's output, both streams; ends the test when it fails."""
    result = subprocess.run(
        [str(word) for word in command],
        env={**os.environ, **(env or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=timeout,
        check=False,
    )
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: status {result.returncode}:\n{result.stdout}")
    return result.stdout


def expect(condition, message):
    if not condition:
        sys.exit(message)


def made(build, folder):
    """name → path of the packages, made anew."""
    run("cpack", "--config", build / "CPackConfig.cmake", "-G", "DEB", "-B", folder, env={"SOURCE_DATE_EPOCH": EPOCH})
    found = {path.name.partition("_")[0]: path for path in folder.glob("*.deb")}
    expect(sorted(found) == sorted(PACKAGES), f"want the packages {PACKAGES}, got {sorted(found)}")
    shutil.rmtree(folder / "_CPack_Packages")
    return found


def check_reproducible(first, second):
    for name in PACKAGES:
        sums = {hashlib.sha256(package[name].read_bytes()).hexdigest() for package in (first, second)}
        expect(len(sums) == 1, f"{name}: two builds differ: {sums}")


def check_contents(packages, work):
    """Unpacks all into one root, where no two may have a file in common; gives it."""
    root, owners = work / "root", {}
    for name, package in packages.items():
        listed = [line.split()[5].removeprefix("./") for line in run("dpkg-deb", "--contents", package).splitlines()]
        for file in [file for file in listed if not file.endswith("/")]:
            expect(file not in owners, f"{file} is in {name} and in {owners.get(file)}")
            owners[file] = name
        lacking = [file for file in WANTED[name] if file not in listed]
        expect(not lacking, f"{name} lacks {lacking}; it has {listed}")
        run("dpkg-deb", "--extract", package, root)
        for file in ("copyright", "changelog.Debian.gz"):
            expect((root / "usr/share/doc" / name / file).is_file(), f"{name} lacks {file}")
    return root


def check_owners(packages):
    for name, package in packages.items():
        strange = [
            line
            for line in run("dpkg-deb", "--contents", package).splitlines()
            if line.split()[1] != "root/root" or re.match(r"[-d](.{4}w|.{7}w)", line)
        ]
        expect(not strange, f"{name}: want files of root that only root may write, got {strange}")


def check_control(packages):
    version = (ROOT / "VERSION").read_text(encoding="utf-8").strip()
    changelog = (ROOT / "deploy/debian/changelog").read_text(encoding="utf-8")
    want = re.match(r"opserve \((.*?)\)", changelog).group(1)
    expect(want == f"{version}-1", f"deploy/debian/changelog: want version {version}-1 first, got {want}")
    for name, package in packages.items():
        got = run("dpkg-deb", "--field", package, "Version").strip()
        expect(got == want, f"{name}: want version {want}, got {got}")
    for name in ("opserve-server", "opserve-client"):
        depends = run("dpkg-deb", "--field", packages[name], "Depends")
        for library in ("libc6 (>=", "libgrpc++1.51", "libprotobuf"):
            expect(library in depends, f"{name}: want {library} among what it depends on, got {depends}")
    for name in ("libopserve-acl-remote", "libopserve-acl-dev"):
        depends = run("dpkg-deb", "--field", packages[name], "Depends")
        library = f"libopserve-acl0 (= {want})"
        expect(library in depends, f"{name}: want {library} among what it depends on, got {depends}")
    depends = run("dpkg-deb", "--field", packages["libopserve-acl0"], "Depends")
    expect("grpc" not in depends, f"libopserve-acl0: want nothing of gRPC, got {depends}")
    held = run("dpkg-deb", "--info", packages["opserve-server"])
    expect(all(script in held for script in SCRIPTS), f"opserve-server: want {SCRIPTS}, got:\n{held}")


def check_lintian(packages):
    """Errors fail; warnings are printed."""
    tags = run("lintian", "--fail-on", "error", "--no-tag-display-limit", "--allow-root", *packages.values())
    print(tags)


def check_unit(root):
    """The service of the package starts the program of the package, and systemd understands it."""
    unit = root / "lib/systemd/system/opserve.service"
    started = re.search(r"^ExecStart=/(\S+)", unit.read_text(encoding="utf-8"), re.MULTILINE).group(1)
    expect(os.access(root / started, os.X_OK), f"{unit.name} starts /{started}, which the package does not hold")


def flags_of_default(root):
    """As systemd splits them."""
    text = (root / "etc/default/opserve").read_text(encoding="utf-8")
    return re.search(r'^OPSERVE_FLAGS="(.*)"$', text, re.MULTILINE).group(1).split()


def check_serves(root, work):
    """Programs of the packages, with the flags of the conffile but for the places."""
    os.environ["OPSERVE_BIN_DIR"] = str(root / "usr/bin")
    flags = [
        word.replace("/run/opserve", str(work)).replace("localhost:8500", "localhost:0")
        for word in flags_of_default(root)
    ]
    expect("unix:" in " ".join(flags), f"want a unix socket among {flags}")
    with running_server.running_server(work, *flags) as address:
        for target in (address, f"unix:{work}/grpc"):
            output = run(root / "usr/bin/opserve", *SAMPLE, "--target", target)
            expect(
                output.startswith("grad_input f32[4,2]\n[[-0.125      0]"), f"want the sample's gradient, got:\n{output}"
            )


def check_acl(root, work):
    """A program is built with the -dev package, and runs without it: here, and on the devices of a server."""
    if not shutil.which("cc"):
        toolchains.lacking("cc")
    libraries, names = root / "usr/lib", root / "usr/lib/opserve/ascend"
    source = root / f"usr/share/doc/opserve/acl-samples/{ACL_SAMPLE}.c"
    flags = ["-lascendcl", "-lnnopbase", "-lopapi", f"-Wl,-rpath-link,{libraries}"]
    run("cc", "-I", root / "usr/include/opserve-acl", source, "-o", work / "sample", "-L", names, *flags)
    (libraries / "libopserve_acl.so").unlink()
    env = {"LD_LIBRARY_PATH": str(libraries)}
    with running_server.running_server(work, "--listen", f"unix:{work}/acl") as _:
        for target in ("", f"unix:{work}/acl"):
            printed = run(work / "sample", env={**env, **({"OPSERVE_TARGET": target} if target else {})})
            expect(printed == ACL_PRINTED, f"OPSERVE_TARGET={target}: want {ACL_PRINTED!r}, got {printed!r}")


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    for tool in ("dpkg-deb", "cpack", "dpkg-shlibdeps", "lintian"):
        if not shutil.which(tool):
            toolchains.lacking(tool)
    with tempfile.TemporaryDirectory(prefix="opserve-") as folder:
        work = pathlib.Path(folder)
        packages = made(build, work / "first")
        check_reproducible(packages, made(build, work / "second"))
        check_owners(packages)
        root = check_contents(packages, work)
        check_control(packages)
        check_lintian(packages)
        check_unit(root)
        check_serves(root, work)
        check_acl(root, work)
        for name, package in packages.items():
            print(f"{name}: {package.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
