"""The askwise side of the page for those who come from elsewhere runs as it stands."""

import re
from pathlib import Path

PAGE = Path(__file__).parent.parent.parent / "docs" / "moving.md"


def test_the_askwise_side_of_moving_runs_as_it_stands(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    ours = [block for block in blocks if "import askwise" in block]
    assert [block.splitlines()[0] for block in blocks if block not in ours] == [
        "# small-text: not run",
        "# Baal: not run",
    ]
    loop, scores = ({}, {})
    exec(ours[0], loop)
    assert capsys.readouterr().out == "16 labels\n"
    exec(ours[1], scores)
    assert len(set(scores["chosen"].tolist())) == 10
