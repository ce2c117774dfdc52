"""The pages with examples in Python say what happens."""

import doctest
import pathlib
import re

import pytest

DOCS = pathlib.Path(__file__).resolve().parents[3] / "docs"
MINIMUM_EXAMPLES = {"python.md": 23, "tutorial.md": 11, "index.md": 5}
DOCUMENTED_TARGET = "localhost:8500"


@pytest.mark.parametrize("name", MINIMUM_EXAMPLES)
def test_the_page(server, name):
    page = DOCS / name
    text = page.read_text(encoding="utf-8").replace(DOCUMENTED_TARGET, server.address)
    examples = []
    for block in re.finditer(r"^```pycon\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        first = text.count("\n", 0, block.start(1))
        for example in doctest.DocTestParser().get_examples(block.group(1)):
            example.lineno += first
            examples.append(example)
    assert len(examples) >= MINIMUM_EXAMPLES[name]
    told = []
    results = doctest.DocTestRunner().run(
        doctest.DocTest(examples, {}, name, str(page), 0, text), out=told.append)
    assert results.failed == 0, "".join(told)
