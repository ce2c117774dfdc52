"""Writes docs/python_api.md: the public classes and functions of the Python package, with signatures and docstrings, from its sources.

Usage: make_python_page.py [--check]     (--check only says whether the page is up to date)
"""

import ast
import inspect
import pathlib
import sys

DOCS = pathlib.Path(__file__).resolve().parent
PACKAGE = DOCS.parent / "client/python/src/opserve"
PAGE = DOCS / "python_api.md"
HEAD = """# Python API

<!-- Made by docs/make_python_page.py; do not edit. -->

The public names of the package `opserve`, from its docstrings. [Python](python.md) is the guide. `opserve.torch.functional` and
`opserve.torch.nn` have the names and signatures of `torch.nn.functional` and `torch.nn`.
"""


def module_of(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def public_names(module):
    """The names of __all__, or else those that the module defines, each with the file that defines it."""
    source = {alias.name: statement.module for statement in module.body if isinstance(statement, ast.ImportFrom)
              for alias in statement.names if statement.level == 1 and statement.module}
    listed = [ast.literal_eval(statement.value) for statement in module.body if isinstance(statement, ast.Assign)
              and getattr(statement.targets[0], "id", "") == "__all__"]
    defined = [node.name for node in module.body if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and not node.name.startswith("_")]
    return {name: source.get(name) for name in (listed[0] if listed else defined)}


def definition(module, name):
    """The class or function of that name; None for other names."""
    return next((node for node in module.body if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef))
                 and node.name == name), None)


def doc_of(node):
    text = inspect.cleandoc(ast.get_docstring(node) or "")
    return f"\n```text\n{text}\n```\n" if text else ""


def signature(node, in_class=False):
    arguments = ast.unparse(node.args)
    if in_class:
        arguments = arguments.removeprefix("self").removeprefix("cls").removeprefix(", ")
    result = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"{node.name}({arguments}){result}"


def is_property(node):
    return any(getattr(decorator, "id", "") in ("property", "cached_property") for decorator in node.decorator_list)


def members(node):
    """The public methods and properties of a class."""
    for member in node.body:
        if not isinstance(member, (ast.FunctionDef, ast.AsyncFunctionDef)) or member.name.startswith("_"):
            continue
        awaited = "await " if isinstance(member, ast.AsyncFunctionDef) else ""
        result = f": {ast.unparse(member.returns)}" if member.returns else ""
        shown = f"{member.name}{result}" if is_property(member) else awaited + signature(member, in_class=True)
        yield f"\n```python\n{shown}\n```\n{doc_of(member)}"


def section(prefix, node):
    yield f"\n### {prefix}.{node.name}\n"
    if isinstance(node, ast.ClassDef):
        bases = ", ".join(map(ast.unparse, node.bases))
        yield f"\n```python\nclass {node.name}{f'({bases})' if bases else ''}\n```\n{doc_of(node)}"
        yield from members(node)
    else:
        yield f"\n```python\n{signature(node)}\n```\n{doc_of(node)}"


def sections(prefix, path):
    module = module_of(path)
    yield f"\n## {prefix}\n{doc_of(module)}"
    for name, source in sorted(public_names(module).items()):
        node = definition(module_of(PACKAGE / f"{source}.py") if source else module, name)
        if node:
            yield from section(prefix, node)


def session_objects():
    """What a session makes. Nobody makes them by their names, so no module lists them."""
    yield "\n## What a session makes\n"
    module = module_of(PACKAGE / "_session.py")
    for name in ("Event", "Executor", "Stream", "Tensor"):
        yield from section("opserve.Session", definition(module, name))


def main():
    page = "".join([HEAD, *sections("opserve", PACKAGE / "__init__.py"), *session_objects(), *sections("opserve.aio", PACKAGE / "aio.py"),
                    *sections("opserve.onnx", PACKAGE / "onnx.py")])
    if sys.argv[1:] != ["--check"]:
        PAGE.write_text(page, encoding="utf-8")
        return 0
    up_to_date = PAGE.exists() and PAGE.read_text(encoding="utf-8") == page
    return 0 if up_to_date else "docs/python_api.md is not what the sources say: run docs/make_python_page.py"


if __name__ == "__main__":
    sys.exit(main())
