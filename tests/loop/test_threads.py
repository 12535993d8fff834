"""Asking, telling, predicting and looking at the same time leaves the facts of one thread."""

import sys
import threading

import pytest
import torch
from small_run import FAST, LABELS, POINTS, POSTERIORS, TRUTH, learner, network, outcome

from askwise import bbb, fit
from askwise.bayes.program.ready import program_of
from askwise.bayes.program.trace import call, predicting, tensors_of

INPUTS = torch.from_numpy(POINTS[40:])


def settled(path) -> dict:
    """An outcome without the order of the answers: that is the annotators'."""
    found = outcome(path)
    return found | {"answers": sorted(found["answers"])}


def one_thread(path, **changes) -> dict:
    with learner(path, **changes) as run:
        while questions := run.ask():
            run.tell({question.id: TRUTH[question.id] for question in questions}, key="page")
    return settled(path)


def many_threads(path, count: int, **changes) -> dict:
    """The same run by several threads that ask and tell, and others that predict and look meanwhile."""
    failures: list[BaseException] = []
    over = threading.Event()

    def guarded(work):
        def inner() -> None:
            try:
                work()
            except BaseException as error:
                failures.append(error)
                over.set()

        return inner

    with learner(path, **changes) as run:

        def answer() -> None:
            while not over.is_set() and (questions := run.ask()):
                for question in questions:
                    run.tell({question.id: TRUTH[question.id]}, key="page")

        def look() -> None:
            while not over.wait(0.05):
                assert run.status().counts.items == 40
                if run.rounds():
                    assert run.predict(INPUTS).mean.shape == (20, 3)

        asking = [threading.Thread(target=guarded(answer)) for _ in range(count // 2)]
        looking = [threading.Thread(target=guarded(look)) for _ in range(count - len(asking))]
        for one in (*asking, *looking):
            one.start()
        for one in asking:
            one.join()
        over.set()
        for one in looking:
            one.join()
        assert failures == []
    return settled(path)


@pytest.mark.parametrize("posterior", ["bbb", "mc_dropout"])
def test_eight_threads_leave_the_facts_of_one(folder, posterior):
    changes = {"posterior": POSTERIORS[posterior], "budget": 7}
    expected = one_thread(folder / "one.db", **changes)
    assert len(expected["weights"]) == 2
    assert many_threads(folder / "many.db", 8, **changes) == expected


def test_draws_wait_while_another_thread_has_put_other_weights_into_the_network():
    """A trace replaces the tensors of a network while it lasts; whoever reads them then reads wrong ones."""
    inside, over = threading.Event(), threading.Event()
    fitted = fit(network(), (INPUTS, LABELS[40:]), posterior=bbb(last=1), training=FAST)
    _, make = program_of(fitted, INPUTS[:1], 4, 0)
    expected, found = make(range(4)), []

    def slow(*_) -> None:
        inside.set()
        over.wait()

    handle = fitted.network[0].register_forward_hook(slow)
    zeros = {name: torch.zeros_like(tensor) for name, tensor in tensors_of(fitted.network).items()}

    def other() -> None:
        with predicting(fitted.network, dropout=False):
            call(fitted.network, zeros, INPUTS[:1])

    threads = [threading.Thread(target=other), threading.Thread(target=lambda: found.append(make(range(4))))]
    threads[0].start()
    inside.wait()
    with pytest.raises(AttributeError, match="is not an nn"):  # control: without waiting
        fitted.posterior.draw(fitted.network, fitted.state, numbers=range(4), seed=0, dropouts=())
    threads[1].start()
    threads[1].join(0.2)
    over.set()
    for one in threads:
        one.join()
    handle.remove()
    assert [found[0][name].equal(value) for name, value in expected.items()] == [True] * len(expected)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(20))
def test_eight_threads_leave_the_facts_of_one_in_two_hundred_runs(folder, block, record_property):
    posterior = ("bbb", "mc_dropout")[block % 2]
    changes = {"posterior": POSTERIORS[posterior], "budget": 7, "seed": block}
    expected = one_thread(folder / "one.db", **changes)
    for number in range(10):
        assert many_threads(folder / f"{number}.db", 8, **changes) == expected
    record_property("runs by eight threads", 10)


def test_control_a_loop_in_which_every_thread_may_act_asks_double_or_fails(folder, monkeypatch):
    class Nothing:
        def __enter__(self):
            return self

        def __exit__(self, *_):
            return None

    build = learner

    def careless(*args, **more):
        run = build(*args, **more)
        run.setting.acting = Nothing()
        return run

    expected = one_thread(folder / "one.db", budget=7)
    monkeypatch.setattr(sys.modules[__name__], "learner", careless)
    for number in range(5):
        try:
            if many_threads(folder / f"{number}.db", 8, budget=7) != expected:
                return
        except AssertionError:
            return
    pytest.fail("five careless runs ended like one thread: the test proves nothing")
