import json

from askwise.cli import call


def test_encoders_are_listed_with_size_licence_and_how_to_get_them(capsys):
    assert call(["encoders", "--no-speed"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in lines] == ["lite2", "lite0", "minilm", "french"]
    assert all("MB, licence Apache-2.0; " in line for line in lines[:3])
    assert "French texts, 300 features, 30 MB, licence LGPL-LR; " in lines[3]
    assert call(["encoders", "--no-speed", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert all(row["where"] or row["install"].startswith("pip install") for row in found.values())


def test_the_speed_of_what_is_installed_is_measured(capsys, monkeypatch):
    monkeypatch.setattr("askwise.encoders.load", lambda name: object())
    monkeypatch.setattr("askwise.encoders.items_per_second", lambda encoder: 12.34)
    assert call(["encoders", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert all(row["items_per_second"] == (12.3 if row["where"] else None) for row in found.values())
