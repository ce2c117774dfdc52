"""The words of the documents: spelling, by codespell, and phrases that a reader has to read twice, with better ones.

Usage: words_test.py

Read are the Markdown pages, the comments of the .proto files, and the texts in quotation marks of the programs' sources: --help and
errors.
"""

import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))

import toolchains

# A pattern, and what to write in its place. Words are whole.
BANNED = {
    r"[Tt]he field's": "the product that has the name: CANN, PyTorch, gRPC, Triton",
    r"[Ww]hom": "the noun: the client, the user",
    r"[Ww]hat waits": "the noun: waiting calls, waiting commands",
    r"no telling": "cannot be known",
    r"such as brought values": "the values that the call sent",
    r"(tells?|told|telling) of": "reports, names, describes",
    r"(is|are) said of": "applies to, holds for",
    r"for want of": "because there is no, without",
    r"in the place of": "instead of",
    r"[Ww]hoever": "anyone who, a client that",
    r"[Ww]ho (makes|writes|builds)": "if you make, if you write; someone who writes",
    r"parted by": "separated by",
    r"for ever": "without a limit, forever",
    r"anew": "again",
    r"all else": "everything else",
    r"than else": "than usual, than otherwise",
    r"([Uu]nless|until|or) told( otherwise)?": "by default",
    r"(of|is) one's own": "your own",
    r"[Ww]hat (is|has) no": "the noun: a name that is not, an operator without",
    r"[Ww]hat comes behind": "the commands behind it",
    r"mends?": "repair, fix",
    r"one that lives": "a handle that was not destroyed",
    r"cannot be read as such": "the noun: a file without certificates",
}
# Names of our surroundings that codespell takes for misspelt words.
NAMES = "cann,crate,crates"
SOURCES = ("server/", "client/cpp/", "client/cli/", "client/loadtest/", "client/acl/", "core/")
QUOTED = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
INCLUDE = re.compile(r"\s*#\s*include")
CODE = re.compile(r"`[^`]*`")


def tracked(*patterns):
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "--cached", "--others", "--exclude-standard", "--", *patterns], check=True,
                            stdout=subprocess.PIPE, text=True).stdout.split("\n")
    return [name for name in listed if name and (ROOT / name).is_file()]


def pages():
    return [name for name in tracked("*.md") if not name.startswith("tests/")]


def protos():
    return tracked("proto/opserve/*.proto")


def lines_of(name):
    """The lines of a file that people read, each with its number."""
    text = (ROOT / name).read_text(encoding="utf-8")
    for number, line in enumerate(text.split("\n"), start=1):
        if name.endswith(".proto"):
            line = line.partition("//")[2]
        elif not name.endswith(".md"):
            line = "" if INCLUDE.match(line) else " ".join(QUOTED.findall(line))
        else:
            line = CODE.sub("`", line)
        if line.strip():
            yield number, line


def banned_phrases():
    sources = [name for name in tracked("*.cc", "*.h", "*.inc") if name.startswith(SOURCES)]
    patterns = [(re.compile(rf"\b{phrase}\b"), better) for phrase, better in BANNED.items()]
    for name in [*pages(), *protos(), *sources]:
        for number, line in lines_of(name):
            for pattern, better in patterns:
                found = pattern.search(line)
                if found:
                    yield f"{name}:{number}: \"{found.group()}\": better: {better}"


def misspelt_words():
    result = subprocess.run(["codespell", "--ignore-words-list", NAMES, *pages(), *protos()], cwd=ROOT, stdout=subprocess.PIPE, text=True,
                            check=False)
    return result.stdout.splitlines()


def main():
    problems = list(banned_phrases())
    if not shutil.which("codespell"):
        if not problems:
            toolchains.lacking("codespell")
    else:
        problems += misspelt_words()
    print(f"{len(pages())} pages, {len(problems)} problems")
    return "\n".join(problems) or 0


if __name__ == "__main__":
    sys.exit(main())
