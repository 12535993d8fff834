import pytest

from askwise.store.checkpoints import keep, write


def saved(text):
    def save(folder):
        folder.mkdir()
        (folder / "weights").write_text(text)

    return save


def test_a_checkpoint_is_complete_or_not_there_wherever_the_write_stops(tmp_path):
    home = tmp_path / "run.db.checkpoints"
    points = []
    write(home, "round-0001", saved("one"), points.append)
    assert points == ["before checkpoint", "within checkpoint", "after checkpoint"]
    for stop in points:

        def die(point, stop=stop):
            if point == stop:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            write(home, "round-0002", saved("two"), die)
        assert (home / "round-0001" / "weights").read_text() == "one"
        final = home / "round-0002"
        assert not final.exists() or (final / "weights").read_text() == "two"
        assert final.exists() == (stop == "after checkpoint")


def test_what_a_killed_run_left_is_replaced(tmp_path):
    home = tmp_path / "checkpoints"
    write(home, "round-0001", saved("old"), lambda _: None)
    (home / "round-0001.part").mkdir()
    write(home, "round-0001", saved("new"), lambda _: None)
    assert [path.name for path in home.iterdir()] == ["round-0001"]
    assert (home / "round-0001" / "weights").read_text() == "new"


def test_only_the_named_checkpoints_are_kept_and_nothing_else_is_touched(tmp_path):
    home = tmp_path / "checkpoints"
    for number in range(4):
        write(home, f"round-000{number}", saved(""), lambda _: None)
    (home / "notes").mkdir()
    keep(home, {"round-0002", "round-0003"})
    assert sorted(path.name for path in home.iterdir()) == ["notes", "round-0002", "round-0003"]
