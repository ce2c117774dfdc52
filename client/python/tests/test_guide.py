"""docs/python.md says what happens."""

import doctest
import pathlib
import re

PAGE = pathlib.Path(__file__).resolve().parents[3] / "docs/python.md"
DOCUMENTED_TARGET = "localhost:8500"


def test_the_guide(server):
    text = PAGE.read_text(encoding="utf-8").replace(DOCUMENTED_TARGET, server.address)
    examples = []
    for block in re.finditer(r"^```pycon\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        first = text.count("\n", 0, block.start(1))
        for example in doctest.DocTestParser().get_examples(block.group(1)):
            example.lineno += first
            examples.append(example)
    assert len(examples) > 20
    told = []
    results = doctest.DocTestRunner().run(
        doctest.DocTest(examples, {}, PAGE.name, str(PAGE), 0, text), out=told.append)
    assert results.failed == 0, "".join(told)
