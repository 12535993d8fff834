"""The queue from the command line."""

import argparse
import os
import subprocess
import sys
import uuid
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase

from askwise.errors import InputError, choose, positive
from jobs.experiment import Experiment, Key
from jobs.ledger import Home, Ledger
from jobs.queue import Queue, listing

_STOPPED = 130  # what a shell reports after Ctrl-C


def main(experiments: Sequence[Experiment], home: Home, arguments: Sequence[str] | None = None) -> int:
    """The exit code: 0 if every job was done, 1 if one failed, 130 if the queue was stopped."""
    parser = argparse.ArgumentParser(description="The experiments of results/, in order of priority.")
    parser.add_argument("--jobs", type=int, default=1, help="processes, each with one thread")
    parser.add_argument("--only", help=f"some of: {', '.join(e.name for e in experiments)}")
    parser.add_argument("--where", metavar="NAME=VALUE|...", help="only jobs like posterior=bbb|v*")
    parser.add_argument("--tables", action="store_true", help="do no job, write all tables again")
    parser.add_argument("--list", action="store_true", help="what is done, and how long the rest may take")
    parser.add_argument("--keep-current", action="store_true", help="take out rows of replaced protocols")
    parser.add_argument("--part-of", help=argparse.SUPPRESS)  # the run and process that started this one
    options = parser.parse_args(arguments)
    try:
        chosen = _chosen(experiments, options.only)
        wanted = _wanted(chosen, options.where)
        positive("--jobs", options.jobs)
    except InputError as error:
        parser.error(str(error))
    if options.list:
        print("\n".join(listing([Ledger(experiment, home) for experiment in chosen])))
        return 0
    if options.keep_current:
        for experiment in chosen:
            print(f"{experiment.name}: {Ledger(experiment, home).keep_current()} rows taken out")
        return 0
    if options.jobs > 1:
        return _side_by_side(options.jobs, only=options.only, where=options.where)
    run, parent = (options.part_of or f"{uuid.uuid4().hex[:12]}:0").split(":")
    queue = Queue(chosen, home, run=run, stop=lambda: int(parent) not in (0, os.getppid()), wanted=wanted)
    if options.tables:
        queue.tables(queue.ledgers)
    else:
        try:
            queue.work()
        except KeyboardInterrupt:
            print("stopped; the same command goes on", file=sys.stderr)
            return _STOPPED
    return 1 if queue.failed else 0


def _chosen(experiments: Sequence[Experiment], only: str | None) -> list[Experiment]:
    names = [experiment.name for experiment in experiments]
    asked = [choose("experiment", name.strip(), names) for name in only.split(",")] if only else names
    return [experiment for experiment in experiments if experiment.name in asked]


def _wanted(experiments: Sequence[Experiment], where: str | None) -> Callable[[Key], bool]:
    """Whether a job is one of those asked for: its key has one of the values, in which * stands for anything."""
    if where is None:
        return lambda _: True
    name, _, patterns = where.partition("=")
    keys = [key for experiment in experiments for key in experiment.jobs]
    choose("name in --where", name, dict.fromkeys(known for key in keys for known in key))
    found = dict.fromkeys(str(key[name]) for key in keys if name in key)
    asked: set[str] = set()
    for pattern in patterns.split("|"):
        asked |= {value for value in found if fnmatchcase(value, pattern)} or {choose(name, pattern, found)}
    return lambda key: str(key.get(name)) in asked


def _side_by_side(count: int, **options: str | None) -> int:
    """Several processes that share the queue as two terminals would."""
    command = [sys.executable, sys.argv[0], "--part-of", f"{uuid.uuid4().hex[:12]}:{os.getpid()}"]
    command += [part for name, given in options.items() if given for part in (f"--{name}", given)]
    children = [subprocess.Popen(command) for _ in range(count)]
    try:
        codes = [child.wait() for child in children]
    except KeyboardInterrupt:  # the children have heard it too
        codes = [child.wait() for child in children]
    finally:
        for child in children:
            child.terminate()
    for child, ended in zip(children, codes, strict=True):
        if ended < 0:
            print(f"FAILED process {child.pid} was ended by signal {-ended}", file=sys.stderr)
    return _STOPPED if _STOPPED in codes else int(any(codes))
