"""No page shows code that nothing holds: of each page, what its blocks of each language are held by is said here, and checked as far as
text can tell. A page or a language that is new needs a row.

Usage: pages_test.py
"""

import collections
import pathlib
import re
import subprocess
import sys

import readme_test

ROOT = readme_test.ROOT
LANGUAGES = {"sh", "python", "pycon", "cpp", "go", "java", "rust", "ts", "ruby", "csharp", "swift"}


def test(path):
    """A test runs the blocks: its source names the page."""
    return lambda page, blocks: [] if pathlib.PurePath(page).name in (ROOT / path).read_text(encoding="utf-8") else [
        f"{path} does not name the page"]


def program(path):
    """The blocks, paragraph by paragraph, are parts of a program that tests run."""
    return lambda page, blocks: [f"line {block.line}: {path} has not\n{paragraph}"
                                 for block in blocks for paragraph in block.text.split("\n\n")
                                 if words(paragraph) not in words((ROOT / path).read_text(encoding="utf-8"))]


def not_run(reason):  # pylint: disable=unused-argument
    """Nothing runs the blocks, and why."""
    return lambda page, blocks: []


PYTHON_GUIDE = test("client/python/tests/test_guide.py")
FRAGMENT = not_run("a fragment of a program, whose types and functions its language's tests use")
HELD = {
    ("docs/index.md", "pycon"): PYTHON_GUIDE,
    ("docs/index.md", "go"): program("client/go/examples/gradient/main.go"),
    ("docs/index.md", "java"): program("client/java/examples/src/main/java/dev/opserve/examples/Gradient.java"),
    ("docs/index.md", "rust"): program("client/rust/examples/gradient.rs"),
    ("docs/index.md", "ts"): program("client/node/examples/gradient.mjs"),
    ("docs/index.md", "cpp"): program("client/cpp/example/gradient.cc"),
    ("docs/tutorial.md", "pycon"): PYTHON_GUIDE,
    ("docs/python.md", "pycon"): PYTHON_GUIDE,
    ("docs/python.md", "python"): not_run("the tests of opserve.torch have each of its functions"),
    ("docs/python_api.md", "python"): not_run("signatures, which the test python_page holds to the sources"),
    ("docs/programs.md", "python"): FRAGMENT,
    **{("docs/programs.md", language): FRAGMENT for language in ("cpp", "go", "java", "rust", "ts")},
    ("docs/go.md", "go"): test("tests/client/languages/go_test.py"),
    ("docs/java.md", "java"): test("client/java/client/src/test/java/dev/opserve/GuideTest.java"),
    ("docs/rust.md", "rust"): test("client/rust/tests/it/guide.rs"),
    ("docs/typescript.md", "ts"): test("client/node/tests/guide.test.mjs"),
    ("docs/web.md", "ts"): test("client/web/tests/guide.test.mjs"),
    ("docs/other_languages.md", "sh"): test("tests/client/languages/ruby_test.py"),
    ("docs/other_languages.md", "ruby"): test("tests/client/languages/ruby_test.py"),
    ("docs/other_languages.md", "csharp"): not_run("the page says so"),
    ("docs/other_languages.md", "swift"): not_run("the page says so"),
    ("docs/protocol.md", "go"): FRAGMENT,
    ("docs/open_inference.md", "python"): not_run("needs tritonclient; tests/server sends what it sends"),
    ("docs/open_inference.md", "cpp"): FRAGMENT,
    ("docs/security.md", "cpp"): FRAGMENT,
    ("docs/shared_memory.md", "cpp"): FRAGMENT,
    ("docs/cpp.md", "cpp"): test("tests/readme/CMakeLists.txt"),
    ("docs/reconnecting.md", "cpp"): not_run("parts of a program; tests/client/session/resident_session_test.cc does the same"),
}
# Blocks of commands for which there is no test that has the tool: pages and tools.
NOT_FOLLOWED = {
    ("docs/index.md", "docker"): "tests/container builds the image and starts it where OPSERVE_CONTAINER_BASE says so",
    ("docs/open_inference.md", "perf_analyzer"): "Triton's; tests/bench/peers/triton runs it where it is",
    ("docs/tracing.md", "kill"): "it would signal every server of the machine",
    ("docs/other_languages.md", "everyone"): "ruby_test.py does",
    ("client/rust/README.md", "cargo"): "the README's; tests/client/languages/rust_test.py runs the examples",
    ("deploy/README.md", "docker"): "needs registries and an engine; tests/container and tests/deploy hold the files",
    ("deploy/README.md", "kubectl"): "needs a cluster; tests/deploy holds the files to Kubernetes' definitions",
    ("deploy/README.md", "systemctl"): "would install a service; tests/deploy/systemd_test.py holds the unit",
    ("deploy/README.md", "everyone"): "needs an engine; tests/container tries the profile of system calls",
    ("docs/packages.md", "everyone"): "installs packages; tests/deploy/packages_debian_test.py does that in a fresh Debian",
    ("docs/packages.md", "systemctl"): "needs systemd; tests/deploy/systemd_test.py holds the unit",
    ("deploy/proxy/README.md", "haproxy"): "writes below /etc; tests/deploy starts the configuration",
}


def words(text):
    return " ".join(text.split())


def pages():
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "--cached", "--others", "--exclude-standard", "*.md"], stdout=subprocess.PIPE,
                            text=True, check=True).stdout.split()
    return [name for name in listed if not name.startswith("tests/") and (ROOT / name).is_file()]


def followed():
    """The pages and tools of follow() in CMakeLists.txt."""
    text = (ROOT / "tests/readme/CMakeLists.txt").read_text(encoding="utf-8")
    return {match.groups() for match in re.finditer(r"^follow\(\w+ (\S+) (\w+)[^)]*\)$", text, re.MULTILINE)}


def problems():
    code, commands = collections.defaultdict(list), set()
    for name in pages():
        for block in readme_test.blocks_of(ROOT / name):
            if block.language in LANGUAGES:
                code[name, block.language].append(block)
            if block.language == "sh":
                commands.add((name, readme_test.tool_of(block)))
    known = followed()
    for page, tool in sorted(commands - known - NOT_FOLLOWED.keys()):
        yield f"{page}: nothing follows its commands for {tool}: follow() in tests/readme/CMakeLists.txt, or a row of NOT_FOLLOWED"
    for page, tool in sorted((known | NOT_FOLLOWED.keys()) - commands):
        yield f"{page} has no commands for {tool}"
    for key, blocks in sorted(code.items()):
        if key in HELD:
            yield from (f"{key[0]}: {problem}" for problem in HELD[key](key[0], blocks))
        elif key[1] != "sh":
            yield f"{key[0]}: nothing holds its blocks of {key[1]}: want a row of HELD"
    for page, language in sorted(HELD.keys() - code.keys()):
        yield f"{page} has no blocks of {language}"


def main():
    found = list(problems())
    print("each block of code is accounted for" if not found else f"{len(found)} problems")
    return "\n".join(found) or 0


if __name__ == "__main__":
    sys.exit(main())
