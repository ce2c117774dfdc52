"""Makes a site of the tree's Markdown files, wherever they lie, without changing them (hooks of MkDocs).

- Every Markdown file that git knows, or would add, is a page. The files of docs/ are at the top, docs/index.md is the start page.
- A link to another file of the tree leads to a page that shows the file, a link to a folder to its README.md or a list.
- What stands between `<!-- tabs -->` and `<!-- /tabs -->` becomes tabs: a line `**Name**` begins each.
"""

import pathlib
import posixpath
import re
import subprocess

from mkdocs.structure.files import File

ROOT = pathlib.Path(__file__).resolve().parents[2]
LINK = re.compile(r"(?<=\]\()([^)\s#:]+)(#[^)\s]*)?(?=\))")
TAB = re.compile(r"^\*\*(.+)\*\*$")
ITEM = re.compile(r"(\d+\.|[-*]) +")
LANGUAGES = {".cc": "cpp", ".h": "cpp", ".proto": "proto", ".py": "python", ".go": "go", ".rs": "rust", ".java": "java", ".mjs": "js",
             ".ts": "ts", ".yaml": "yaml", ".yml": "yaml", ".json": "json", ".toml": "toml", ".html": "html", ".txt": "text"}
IMAGES = {".svg", ".png"}

_tree = {}     # path of each file of the tree → None
_targets = {}  # path of a file or folder that a page links to → src_uri of its page


def on_files(files, config):
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT, check=True,
                            stdout=subprocess.PIPE, text=True).stdout.split("\n")
    _tree.clear()
    _tree.update((path, None) for path in listed if path and (ROOT / path).is_file())
    _targets.clear()
    for file in [file for file in files if file.src_dir == config.docs_dir]:
        files.remove(file)
    pages = [path for path in _tree if path.endswith(".md")]
    for path in pages + [path for path in _tree if path.startswith("docs/") and pathlib.PurePath(path).suffix in IMAGES]:
        files.append(File(path, str(ROOT), config.site_dir, False, dest_uri=_destination(path)))
    for path in pages:
        for target in _linked_sources(path):
            if target not in _targets:
                _targets[target] = f"source/{target}.md"
                files.append(File.generated(config, _targets[target], content=_shown(target)))
    return files


def on_page_markdown(markdown, page, config, files):
    source = page.file.src_uri
    if source.startswith("source/"):
        return markdown
    lines, fenced = [], False
    for line in markdown.split("\n"):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        lines.append(line if fenced else LINK.sub(lambda match: _link(source, *match.groups()), line))
    return "\n".join(_with_tabs(_indented(lines)))


def _destination(path):
    """Where a page of the tree is in the site: without docs/, and the tree's own pages in project/."""
    if path.endswith(".md"):
        path = path[:-len(".md")] + ".html"
    if path.startswith("docs/"):
        return path[len("docs/"):]
    return path if "/" in path else f"project/{path}"


def _target(source, link):
    """What a link of the page `source` leads to: a path of the tree."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(source), link))


def _is_folder(path):
    return any(other.startswith(f"{path}/") for other in _tree)


def _linked_sources(path):
    """Files and folders without a page of their own that a page links to."""
    fenced = False
    for line in (ROOT / path).read_text(encoding="utf-8").split("\n"):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        for match in [] if fenced else LINK.finditer(line):
            target = _target(path, match.group(1))
            file = target in _tree and pathlib.PurePath(target).suffix not in {".md", *IMAGES}
            if file or (_is_folder(target) and f"{target}/README.md" not in _tree):
                yield target


def _link(source, link, anchor):
    target = _target(source, link)
    if _is_folder(target):
        target = _targets.get(target, f"{target}/README.md")
    target = _targets.get(target, target)
    if target == _target(source, link):
        return link + (anchor or "")
    return posixpath.relpath(target, posixpath.dirname(source) or ".") + (anchor or "")


def _shown(path):
    """The page of a file, or of a folder: the names in it."""
    if _is_folder(path):
        names = sorted({other[len(path) + 1:].split("/")[0] for other in _tree if other.startswith(f"{path}/")})
        return f"# {path}\n\n" + "\n".join(f"- `{name}`" for name in names) + "\n"
    text = (ROOT / path).read_text(encoding="utf-8")
    fence = "`" * (max((len(run) for run in re.findall(r"`+", text)), default=2) + 1)
    language = LANGUAGES.get(pathlib.PurePath(path).suffix, "sh" if text.startswith("#!") else "text")
    return f"# {path}\n\n{fence if len(fence) > 2 else '```'}{language}\n{text}\n{fence if len(fence) > 2 else '```'}\n"


def _indented(lines):
    """What belongs to an item of a list by two or three spaces, by four: as Python's Markdown wants it."""
    width = None
    for line in lines:
        item = ITEM.match(line)
        if item:
            width = len(item.group())
        elif line and not line.startswith(" "):
            width = None
        if width and not item and width < 4 and line.startswith(" " * width):
            line = " " * (4 - width) + line
        yield line


def _with_tabs(lines):
    inside = False
    for line in lines:
        if line.strip() in ("<!-- tabs -->", "<!-- /tabs -->"):
            inside = line.strip() == "<!-- tabs -->"
        elif inside and TAB.match(line):
            yield f'=== "{TAB.match(line).group(1)}"'
        else:
            yield f"    {line}" if inside and line else line
