"""Settings that cannot be meant."""

import socket
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from website.cases.outcome import command

_EVERYBODY = "0.0.0.0"  # noqa: S104 (it is refused)
_PLAN = 'data = "items.npy"\nnetwork = "mlp"\nclasses = ["a", "b"]\nstore = "run.db"\n'


def cases() -> Iterator[tuple[str, str]]:
    """What each plan and each command gets."""
    np.save("items.npy", np.random.default_rng(0).normal(size=(12, 3)).astype(np.float32))
    yield "batch = 0", _plan("batch = 0")
    yield "a negative batch", _plan("batch = -1")
    yield "draws = 0", _plan("draws = 0")
    yield 'seed = "abc"', _plan('seed = "abc"')
    yield "an unknown score", _plan('acquire = "bold"')
    yield "an unknown key", _plan("bugdet = 10")
    yield "a class twice", _plan("", plan=_PLAN.replace('["a", "b"]', '["a", "a"]'))
    yield "a broken plan", _plan("= 3")
    yield "data that are not there", _plan("", plan=_PLAN.replace("items.npy", "itmes.npy"))
    yield "a device that is not there", _plan('device = "cuda:99"')
    yield "a plan that is not there", command("run", "none.toml")
    yield "an unknown command", command("lable", "pets")
    yield "an unknown option", command("run", "plan.toml", "--orakel", "x.csv")
    yield "a project that is not there", command("label", "nowhere")
    yield from _serving()
    yield "classes for known photos that are not there", command("new", "pets", "--images", "none")


def _plan(line: str, *, plan: str = _PLAN) -> str:
    Path("plan.toml").write_text(f"{plan}{line}\n")
    return command("plan", "check", "plan.toml")


def _serving() -> Iterator[tuple[str, str]]:
    made = command("new", "own", "--arrays", "items.npy", "--classes", "a,b")
    if made != "taken":
        raise AssertionError(made)
    with socket.socket() as busy:
        busy.bind(("127.0.0.1", 0))
        busy.listen()
        port = str(busy.getsockname()[1])
        line = command("label", "own", "--no-browser", "--port", port)
        yield "a port in use", line.replace(port, "8000")
    yield "other machines, without people", command("label", "own", "--no-browser", "--host", _EVERYBODY)
    yield "a store of something else", _other_store()


def _other_store() -> str:
    Path("own/store.db").write_bytes(b"not a database" * 99)
    return command("status", "own")
