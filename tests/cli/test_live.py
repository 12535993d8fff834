"""What a person is told while a run works."""

from askwise.cli import live


class Shown:
    """Stands for rich's progress: remembers what the bar would show."""

    def __init__(self):
        self.fields = {}

    def add_task(self, name, **fields):
        self.fields = dict(fields)
        return 0

    def update(self, task, **fields):
        self.fields |= fields

    def start_task(self, task): ...

    def stop_task(self, task): ...


def test_rate_and_time_left_are_told_after_two_seconds_and_go_when_it_is_done(monkeypatch):
    clock = iter([0.0, 1.0, 4.0, 8.0])
    monkeypatch.setattr(live, "monotonic", lambda: next(clock))
    shown = Shown()
    tell = live.Bars(shown, {"run": 10}).doing("run")
    tell("scoring", 100, 8000)
    tell("scoring", 1000, 8000)
    assert shown.fields["doing"] == ""  # one second: too soon to trouble anyone
    tell("scoring", 4000, 8000)
    assert shown.fields["doing"] == "scoring 4,000 of 8,000, 1,000 a second, 0:04 left"
    tell("scoring", 8000, 8000)
    assert shown.fields["doing"] == ""


def test_slow_work_has_a_rate_too():
    assert live._said("learning", 3, 50, 6.0) == "learning 3 of 50, 0.5 a second, 1:34 left"


def test_without_a_terminal_a_run_tells_every_quarter_of_its_budget_if_asked(capsys):
    for lines in (True, False):
        tell = live.Bars(Shown(), {"run": 8}, lines=lines)
        for labels in range(1, 9):
            tell("run", labels, f"{labels}0 %")
        told = capsys.readouterr().err.splitlines()
        assert told == (
            [f"run: {labels} of 8 labels, {labels}0 %" for labels in (2, 4, 6, 8)] if lines else []
        )
