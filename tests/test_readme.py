"""The lines of the README do what they say."""

import re
from pathlib import Path

import torch

README = Path(__file__).parent.parent / "README.md"


def blocks() -> list[str]:
    return re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), flags=re.DOTALL)


def test_the_lines_of_the_readme_run_as_they_stand(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    x = torch.randn(60, 5, generator=torch.Generator().manual_seed(0))
    names = {
        "network": torch.nn.Sequential(torch.nn.Linear(5, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2)),
        "x": x,
        "y": (x[:, 0] > 0).long(),
        "pool": x,
        "inputs": x[:3],
        "new_x": x[:4],
        "answer": lambda item: "dog" if item[0] > 0 else "cat",
    }
    first, second = blocks()
    exec(first, names)
    assert len(names["picks"]) == 10
    assert (tmp_path / "model" / "manifest.json").is_file()
    ask, _, later = second.partition("learner.predict")
    exec(ask, names)
    assert len(names["questions"]) == 10
    names["learner"].ask()  # it learns from the answers
    exec(f"learner.predict{later}", names)
    names["learner"].close()
