"""What notebooks show, and the notebooks of notebooks/, as users run them."""

import html.parser
import json
import os
import pathlib

import grpc
import numpy as np
import pytest

import opserve

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "notebooks"
NOTEBOOKS = sorted(path.stem for path in FOLDER.glob("*.ipynb"))
HOSTILE = '<script>alert("1")</script>'


class _Cells(html.parser.HTMLParser):
    """The tags of a text, and the texts between them."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.texts = set(), []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)

    def handle_data(self, data):
        self.texts.append(data)


def test_an_operator_as_a_table(client):
    shown = _Cells(client.operators()["SmoothL1LossBackward"]._repr_html_())
    assert {"SmoothL1LossBackward", "grad_out", "beta", "→ grad_input"} <= set(shown.texts)
    assert shown.tags == {"b", "pre", "table", "tr", "th", "td"}


def test_a_result_as_a_table(client):
    shown = _Cells(client.execute("Relu", {"self": np.arange(100, dtype=np.float32) - 1})._repr_html_())
    assert shown.texts[4:] == ["out", "float32", "(100,)", "[ 0.  0. ... 97. 98.]"]
    hostile = _Cells(opserve.Result({HOSTILE: np.zeros(2)})._repr_html_())
    assert HOSTILE in hostile.texts and "script" not in hostile.tags


def test_an_error_as_a_table(client):
    error, = client.execute_batch([opserve.Call("SmoothL1Loss", {"self": [1.0], "target": [1.0]}, {"beta": -1.0})])
    assert _Cells(error._repr_html_()).texts[-8:] == ["operator", "SmoothL1Loss", "parameter", "beta", "want", ">= 0", "got", "-1"]
    hostile = _Cells(opserve.OpserveError(HOSTILE, got=HOSTILE)._repr_html_())
    assert hostile.texts[-1] == HOSTILE and "script" not in hostile.tags
    bare = _Cells(opserve.OpserveError("gone", code=grpc.StatusCode.UNAVAILABLE)._repr_html_())
    assert bare.texts == ["OpserveError", ": UNAVAILABLE: gone"] and bare.tags == {"b"}


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_has_no_outputs(name):
    cells = [cell for cell in json.loads((FOLDER / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]
    assert cells and not any(cell["outputs"] or cell["execution_count"] for cell in cells)


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_runs(name, tmp_path, monkeypatch):
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(pathlib.Path(opserve.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]))
    notebook = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
    nbclient.NotebookClient(notebook, timeout=60, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    assert any("text/html" in output.get("data", ()) for output in shown)


def test_both_notebooks_are_there():
    assert NOTEBOOKS == ["ctc", "gradient"]
