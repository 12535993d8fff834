"""The notebooks of examples/ run from the first cell to the last, and store no output."""

import ast
import json
from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).parent.parent.parent / "examples").glob("*.ipynb"))


def shown(source, names):
    """Execute a cell; the value of its last line, as Jupyter would show it."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)
    return None if last is None else eval(compile(ast.Expression(last.value), "cell", "eval"), names)  # noqa: S307


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_shows_its_objects(path, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    cells = json.loads(path.read_text("utf-8"))["cells"]
    names = {}
    values = [shown("".join(cell["source"]), names) for cell in cells if cell["cell_type"] == "code"]
    assert any("<table" in value._repr_html_() for value in values if hasattr(value, "_repr_html_"))
    assert all(cell["outputs"] == [] for cell in cells if cell["cell_type"] == "code")


def test_there_is_one_for_people_with_data_and_one_for_research():
    assert [path.stem for path in NOTEBOOKS] == ["own_data", "research"]
