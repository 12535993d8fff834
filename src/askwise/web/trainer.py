"""The process that learns: it follows the answers, fits, ranks, asks, and tells the server what it thinks."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from askwise.errors import AskwiseError
from askwise.web.child import Line, main
from askwise.web.requests import REQUESTS, Work

if TYPE_CHECKING:
    from askwise.loop.live import Guess, Live
    from askwise.store.facts import Round

_LOOK = 1.0  # seconds between two looks at the store, for answers that came from elsewhere
_GRACE = 30.0  # seconds for a last model, when the server has ended: a small one takes 6 on a busy machine


def train(folder: Path, line: Line) -> None:
    """Step after step, until the server ends."""
    # not before: this takes seconds, in which the server may end
    from askwise.project import open_project
    from askwise.project.working import working_plan
    from askwise.runs.build import learner
    from askwise.runs.material import material

    project = open_project(folder)
    plan = working_plan(project)
    known = material(plan, folder=project.folder)
    with learner(plan, known, store=project.place, folder=project.folder) as ours:
        live = ours.live()
        work = Work(ours, live, project, plan, known.pool)
        _tell_round(line, ours.rounds()[-1:])
        _tell_guesses(line, live.guesses(question.id for question in live.open()))
        line.tell("ready", encoder=plan.encoder)
        _tell_sweepable(line, live)
        line.grace = _GRACE
        while not line.over.is_set():
            line.woken.clear()
            turn = live.step()
            if turn is not None:
                if turn.fitted is not None:
                    _tell_round(line, [turn.fitted])
                _tell_guesses(line, live.guesses(question.id for question in turn.asked))
                line.tell("turn", asked=len(turn.asked), seconds=turn.seconds)
            _tell_wanted(line, work)
            if turn is not None and turn.fitted is not None:
                _tell_sweepable(line, live)
            line.tell("waiting", encoded=live.encoded())
            if turn is None and not line.heard:
                line.woken.wait(_LOOK)
        live.keep()


def _tell_round(line: Line, rounds: "list[Round]") -> None:
    for one in rounds:
        line.tell("round", number=one.number, seen=one.seen, labels=one.labels)


def _tell_guesses(line: Line, guesses: "list[Guess]") -> None:
    if guesses:
        line.tell("guesses", guesses=[asdict(guess) for guess in guesses])


def _tell_sweepable(line: Line, live: "Live") -> None:
    try:
        found = live.sweepable()
    except AskwiseError:
        found = []  # labels that cannot be fitted in parts: questions go on without grids
    line.tell("sweepable", found=[asdict(one) for one in found])


def _tell_wanted(line: Line, work: Work) -> None:
    """Answer what the server has asked for meanwhile."""
    wanted: list[str] = []
    while line.heard:
        message = line.heard.popleft()
        wanted += message.get("why", ())
        if "request" in message:
            number = message["number"]
            try:
                found = REQUESTS[message["request"]](work, message["values"])
                line.tell("reply", number=number, found=found)
            except AskwiseError as error:
                line.tell("reply", number=number, error=str(error))
    if wanted:
        _tell_guesses(line, work.live.guesses(wanted))
        line.tell("answered", why=wanted)


if __name__ == "__main__":
    main(train)
