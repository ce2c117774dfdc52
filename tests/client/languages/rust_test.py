"""Checks the Rust crate of client/rust with its own tools: format, lints, tests, documentation, examples, and that its generated code is current.

$CARGO_TARGET_DIR is where cargo builds; without it the folder client-rust of the build folder.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests/support"))

import running_server
import toolchains
import training_losses

PACKAGE = ROOT / "client/rust"
OLDEST = (1, 88)
# A test is built once and reads no debug information.
QUICK_BUILD = {"CARGO_INCREMENTAL": "0", "CARGO_PROFILE_DEV_DEBUG": "0", "CARGO_PROFILE_TEST_DEBUG": "0"}
# In the order in which client/rust/xtask names them.
PROTOS = ("google/rpc/error_details.proto", "google/rpc/status.proto", "opserve/v1/operator_service.proto", "opserve/v1/session.proto")
EXAMPLES = {
    "gradient": ["grad_input -1 0 1 1 1 1 1 1"],
    "session": ["out -1.342 -0.447 0.447 1.342 -1.342 -0.447 0.447 1.342", "grad_input 0.268 -0.358 -0.089 0.179 -0.716 1.252 -0.358 -0.179",
                "grad_gamma -1.342 -0.894", "grad_beta 1.000 2.000"],
}


def need_tools():
    for tool in ("cargo", "rustfmt", "cargo-clippy"):
        if not shutil.which(tool):
            toolchains.lacking(f"{tool}, of Rust {OLDEST[0]}.{OLDEST[1]} or newer")
    told = subprocess.run(["cargo", "--version"], check=True, stdout=subprocess.PIPE, text=True).stdout
    version = re.match(r"cargo (\d+)\.(\d+)", told)
    if not version or tuple(map(int, version.groups())) < OLDEST:
        toolchains.lacking(f"Rust {OLDEST[0]}.{OLDEST[1]} or newer: it has {told.strip()}")


def check_messages(folder):
    """The .proto files must still say what src/proto was made of."""
    made = folder / "descriptors.binpb"
    subprocess.run(["protoc", f"-I{ROOT / 'proto'}", "--include_imports", "--include_source_info", f"--descriptor_set_out={made}",
                    *PROTOS], cwd=ROOT / "proto", check=True)
    if made.read_bytes() != (PACKAGE / "tests/descriptors.binpb").read_bytes():
        sys.exit("client/rust/src/proto is not what the .proto files say; run: cargo run --manifest-path client/rust/xtask/Cargo.toml")


def cargo(*arguments, **environment):
    subprocess.run(["cargo", *arguments], cwd=PACKAGE, env={**os.environ, **QUICK_BUILD, **environment}, check=True)


def printed_by(name, address):
    command = ["cargo", "run", "-q", "--locked", "--all-features", "--example", name, "--", address]
    return subprocess.run(command, cwd=PACKAGE, env={**os.environ, **QUICK_BUILD}, check=True, stdout=subprocess.PIPE, text=True).stdout


def check_example(name, address):
    got = printed_by(name, address).splitlines()
    if got != EXAMPLES[name]:
        sys.exit(f"example {name}: want {EXAMPLES[name]}, got {got}")


def main():
    need_tools()
    os.environ.setdefault("CARGO_TARGET_DIR", str(running_server.build_folder() / "client-rust"))
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check_messages(folder)
        cargo("fmt", "--check")
        cargo("clippy", "-q", "--locked", "--all-targets", "--all-features", "--", "-D", "warnings")
        cargo("clippy", "-q", "--locked", "--no-default-features", "--", "-D", "warnings")
        cargo("test", "-q", "--locked", "--all-features")
        cargo("doc", "-q", "--locked", "--no-deps", "--all-features", RUSTDOCFLAGS="-D warnings")
        with running_server.running_server(folder) as address:
            for example in EXAMPLES:
                check_example(example, address)
            training_losses.check("example training", printed_by("training", address))


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as error:
        sys.exit(f"{' '.join(map(str, error.cmd[:3]))} ended with status {error.returncode}")
