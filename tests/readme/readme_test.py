"""Does what a page says: runs every ```sh block, command by command, in a copy of the tree against a real server, and checks
that the plain ``` blocks are what the program prints.

Usage: readme_test.py PAGE everyone|TOOL     (PAGE is README.md, …; the programs are in $OPSERVE_BIN_DIR)

`everyone` runs the blocks that need none of the tools of TOOLS, and checks the printed samples; a TOOL runs the blocks that
need it, and is a skip where it is missing. In the copy, build/release is the build under test; localhost:8500 stands for the
server of the test, localhost:8600 for its HTTP. Commands of BUILDS are run by CI themselves, servers would not end, and what names
a host of example.org has none: here these must exist and know their flags. A load test is a short one, unless the page says how
long. pages_test.py lists the pages and tools that are not followed.
"""

import collections
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

DOCUMENTED_TARGET = "localhost:8500"
DOCUMENTED_HTTP = "localhost:8600"
TOOLS = ["docker", "kubectl", "systemctl", "perf_analyzer", "haproxy", "kill", "npm", "go", "cargo", "grpcurl", "curl"]
BUILDS = ["scripts/run", "scripts/test", "scripts/docs", "deploy/container/build"]
SERVER = "opserve-server"
NO_HOST = "example.org"
SHORT_LOAD = {"--duration": "200ms", "--warm-up": "0s"}
TIMEOUT_SECONDS = 240

Block = collections.namedtuple("Block", "line language heading text")

# Under which heading a sample is printed by something else than the block before it: the words that are exchanged in the
# page's first call, whose command line scripts/run has, too.
FIRST_CALL = "A first call"
SAMPLES_OF_FIRST_CALL = {"Start": [], "Errors": [("beta=1", "beta=-1")]}


def blocks_of(page):
    """All fenced blocks, with the heading they stand under."""
    blocks, heading, fence = [], "", None
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), start=1):
        if fence is None and line.startswith("#"):
            heading = line.lstrip("# ")
        elif fence is None and line.startswith("```"):
            fence = Block(number, line[3:].strip(), heading, [])
        elif fence is not None and line.startswith("```"):
            blocks.append(fence._replace(text="\n".join(fence.text)))
            fence = None
        elif fence is not None:
            fence.text.append(line)
    if fence is not None:
        sys.exit(f"{page.name}:{fence.line}: this block does not end")
    return blocks


def commands_of(block):
    """The commands of a block: lines, joined while a backslash or an open quote carries them on."""
    commands, current = [], ""
    for line in block.text.split("\n"):
        current += line
        if current.endswith("\\") or current.count("'") % 2 == 1:
            current += "\n"
            continue
        if current.strip() and not current.lstrip().startswith("#"):
            commands.append(current.strip())
        current = ""
    if current:
        sys.exit(f"line {block.line}: an unfinished command: {current}")
    return commands


def tool_of(block):
    """The tool that decides which test runs a block."""
    words = {command.split()[0] for command in commands_of(block)}
    return next((tool for tool in TOOLS if tool in words), "everyone")


def is_asked_for_help(command):
    program = pathlib.PurePath(command.split()[0]).name
    return command.split()[0] in BUILDS or program == SERVER or NO_HOST in command


def shortened(command):
    """A load test that takes no longer than a test may; any other command as it is."""
    words = command.split()
    if pathlib.PurePath(words[0]).name != "opserve" or words[1:2] != ["bench"] or "--duration" in words:
        return command
    return " ".join([command, *(f"{flag} {value}" for flag, value in SHORT_LOAD.items())])


def copy_tree(folder):
    """What a clone would have, with the build under test as build/release."""
    shutil.rmtree(folder, ignore_errors=True)
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                            capture_output=True, text=True, check=True).stdout
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    (folder / "build").mkdir(exist_ok=True)
    (folder / "build/release").symlink_to(running_server.build_folder(), target_is_directory=True)


class Page:
    """A page being followed."""

    def __init__(self, path, folder, addresses, tools):
        self.blocks = blocks_of(path)
        self._folder = folder
        self._addresses = addresses  # what stands for the documented ones
        # What a page builds against the build under test needs the sanitizers of it.
        environment = outside_build.environment(running_server.build_folder())
        # pip takes Debian's setuptools, as the venv has the system's packages: no network.
        self._environment = {**environment, "OPSERVE_TARGET": addresses[DOCUMENTED_TARGET],
                             "PATH": f"{running_server.bin_folder()}:{os.environ['PATH']}:{tools}",
                             "PIP_NO_BUILD_ISOLATION": "0", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
        self.printed = {}  # line of a block → what its commands printed

    def shell(self, command):
        """Exit status and output, both streams together, of a command of the page."""
        for documented, address in self._addresses.items():
            command = command.replace(documented, address)
        result = subprocess.run(["bash", "-euo", "pipefail", "-c", command],
                                cwd=self._folder, env=self._environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True, timeout=TIMEOUT_SECONDS, check=False)
        return result.returncode, result.stdout

    def run(self, block):
        """Runs a block; returns what went wrong."""
        self.printed[block.line] = ""
        for command in commands_of(block):
            status, output = self.help(command) if is_asked_for_help(command) else self.shell(shortened(command))
            self.printed[block.line] += output
            print(f"{'ok' if status == 0 else 'FAILED'}: line {block.line}: {command}")
            if status != 0:
                return [f"line {block.line}: {command}\n  ended with status {status}:\n{output}"]
        return []

    def help(self, command):
        """Of a command that builds: whether its --help knows the flags that the page gives it."""
        program, *flags = shlex.split(command, comments=True)
        known = [word for word in flags[:1] if program == "opserve" and not word.startswith("-")]  # its subcommand
        output = self.shell(f"{program} --help")[1] if known else ""  # flags that all subcommands have
        status, more = self.shell(shlex.join([program, *known, "--help"]))
        output += more
        unknown = [flag for flag in flags if flag.startswith("--") and flag not in output]
        return (1, f"--help does not know {unknown}:\n{output}") if unknown else (status, output)

    def printed_sample(self, block):
        """What the program prints where the page shows `block`; None when a test of a tool has to say."""
        if block.heading in SAMPLES_OF_FIRST_CALL:
            first = next(other for other in self.blocks if other.heading == FIRST_CALL and other.language == "sh")
            command = commands_of(first)[0]
            for old, new in SAMPLES_OF_FIRST_CALL[block.heading]:
                command = command.replace(old, new)
            return self.shell(command)[1]
        before = [other for other in self.blocks if other.language == "sh" and other.line < block.line]
        near = [other for other in before if other.heading == block.heading]
        ran = [self.printed[other.line] for other in near if other.line in self.printed]
        return ran[-1] if ran else (None if near else "(no command before it)")

    def check_samples(self):
        for block in self.blocks:
            if block.language:
                continue
            printed = self.printed_sample(block)
            if printed is not None and block.text not in printed:
                yield f"line {block.line}: the page says\n{block.text}\nbut printed is\n{printed}"


def require_tool(tool, tools_folder):
    if tool == "grpcurl":
        toolchains.grpcurl(tools_folder)
    elif tool != "everyone" and not shutil.which(tool):
        toolchains.lacking(tool)


def main():
    name, tool = sys.argv[1:]
    work = running_server.build_folder() / "readme" / f"{name.replace('/', '-')}-{tool}"  # no other test's
    tools_folder = running_server.build_folder() / "tools"
    require_tool(tool, tools_folder)
    copy_tree(work / "tree")
    with running_server.running_server(work, "--http", "localhost:0") as address:
        http = (work / "address").read_text(encoding="utf-8").split()[-1]
        addresses = {DOCUMENTED_TARGET: address, DOCUMENTED_HTTP: http.removeprefix("http://").rstrip("/")}
        page = Page(work / "tree" / name, work / "tree", addresses, tools_folder)
        chosen = [block for block in page.blocks if block.language == "sh" and tool_of(block) == tool]
        problems = [problem for block in chosen for problem in page.run(block)]
        problems += page.check_samples()
    print(f"{len(chosen)} blocks followed", *problems, sep="\n")
    return 1 if problems or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
