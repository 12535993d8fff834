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
    one = write(home, saved("one"), points.append)
    assert points == ["before checkpoint", "within checkpoint", "after checkpoint"]
    for stop in points:

        def die(point, stop=stop):
            if point == stop:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            write(home, saved(stop), die)
        others = [path for path in home.iterdir() if path.name != one]
        assert (home / one / "weights").read_text() == "one"
        assert [(path / "weights").read_text() for path in others] == (
            [stop] if stop == "after checkpoint" else []
        )


def test_a_checkpoint_is_named_by_what_is_inside_and_a_live_one_is_not_overwritten(tmp_path):
    home = tmp_path / "checkpoints"
    name = write(home, saved("old"), lambda _: None)
    before = (home / name).stat().st_ino
    assert write(home, saved("old"), lambda _: None) == name
    assert (home / name).stat().st_ino == before
    assert write(home, saved("new"), lambda _: None) != name


def test_a_damaged_checkpoint_is_replaced_when_it_is_written_again(tmp_path):
    home = tmp_path / "checkpoints"
    name = write(home, saved("old"), lambda _: None)
    (home / name / "weights").write_text("odd")
    assert write(home, saved("old"), lambda _: None) == name
    assert (home / name / "weights").read_text() == "old"


def test_only_the_named_checkpoints_are_kept_and_nothing_else_is_touched(tmp_path):
    home = tmp_path / "checkpoints"
    names = [write(home, saved(str(number)), lambda _: None) for number in range(4)]
    for other in ("notes", "round-0001", ".part-of-a-killed-run"):
        (home / other).mkdir()
    keep(home, set(names[2:]))
    assert sorted(path.name for path in home.iterdir()) == sorted(["notes", *names[2:]])
