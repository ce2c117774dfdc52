"""Builds the documents as a site, strictly, and follows its links: every file and every anchor in it is there, and a page loads
nothing from elsewhere.

Usage: site_test.py
"""

import html.parser
import pathlib
import subprocess
import sys
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))

import toolchains

SITE = ROOT / "build/docs/site"
NOT_INSTALLED = 75  # of scripts/docs
MINIMUM_PAGES = 40
POLICY = "default-src 'self' file: data: blob: 'unsafe-inline'"  # nothing from elsewhere, also for scripts
# What a browser fetches by itself, and the attribute that says from where.
LOADED = {"img": "src", "script": "src", "iframe": "src", "source": "src", "link": "href"}


class Page(html.parser.HTMLParser):
    """The anchors, links and loaded files of a page."""

    def __init__(self, path):
        super().__init__()
        self.anchors, self.links, self.loaded, self.policy = set(), [], [], None
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.anchors.update(values[name] for name in ("id", "name") if values.get(name))
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
        if tag == "meta" and values.get("http-equiv") == "Content-Security-Policy":
            self.policy = values["content"]
        if values.get(LOADED.get(tag)):
            self.loaded.append(values[LOADED[tag]])


def problem_of(path, link, pages):
    """What is wrong with a link of the page at `path`; None when it leads somewhere."""
    parts = urllib.parse.urlsplit(link)
    if parts.scheme or parts.netloc:
        return None
    target = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
    if parts.path.startswith("/"):  # of 404.html, which is shown anywhere
        target = SITE / parts.path.lstrip("/")
    if target.is_dir():
        target /= "index.html"
    if not target.exists():
        return "no such file"
    anchor = urllib.parse.unquote(parts.fragment)
    if anchor and target in pages and anchor not in pages[target].anchors:
        return "no such anchor"
    return None


def problems_of(pages):
    for path, page in pages.items():
        name = path.relative_to(SITE)
        for link in page.links + page.loaded:
            problem = problem_of(path, link, pages)
            if problem:
                yield f"{name}: {link}: {problem}"
        for link in page.loaded:
            if urllib.parse.urlsplit(link).netloc:
                yield f"{name} loads {link} from elsewhere"
        if page.policy != POLICY:
            yield f"{name}: want the Content-Security-Policy {POLICY}, got {page.policy}"


def main():
    status = subprocess.run([ROOT / "scripts/docs", "build"], check=False).returncode
    if status == NOT_INSTALLED:
        toolchains.lacking("MkDocs, and a way to fetch it")
    if status != 0:
        return f"scripts/docs build ended with status {status}"
    pages = {path: Page(path) for path in sorted(SITE.rglob("*.html"))}
    if len(pages) < MINIMUM_PAGES:
        return f"the site has {len(pages)} pages, want at least {MINIMUM_PAGES}"
    problems = list(problems_of(pages))
    print(f"{len(pages)} pages, {sum(len(page.links) for page in pages.values())} links")
    return "\n".join(problems) or 0


if __name__ == "__main__":
    sys.exit(main())
