"""Every experiment of results/, in order of priority: one queue that can be stopped anywhere and goes on.

    make results                    on one core; JOBS=2 for both
    make results ONLY=digits,uci    some of them
    make results ONLY=uci WHERE='posterior=bbb|v*'    some jobs of one
    make results-tables             only the tables, from the rows that are there
    make results-list               what is done, and how long the rest may take

A finished job is a line of results/NAME.jsonl. Two terminals may run at once: no job is done twice.
Run it from a clone of its own at a commit: it stops where the code changes under it.
"""

import os

os.environ["OMP_NUM_THREADS"] = "1"  # before torch is loaded: a job has one thread

import signal
import sys
from pathlib import Path

import compare
import defaults
import digits
import digits_protocol
import elbo
import exam
import honest
import own_data
import papers
import placements
import pruning
import tasks
import uci
from jobs.command import main
from jobs.ledger import Home

from askwise.engine.worker import alone

ROOT = Path(__file__).parent.parent
HOME = Home(ROOT / "results", ROOT / ".runs" / "results")
EXPERIMENTS = [
    defaults.WIDTH,
    defaults.TRAINING,
    digits_protocol.EXPERIMENT,
    digits.EXPERIMENT,
    exam.EXPERIMENT,
    compare.DIGITS,
    compare.MNIST,
    placements.EXPERIMENT,
    uci.EXPERIMENT,
    tasks.EXPERIMENT,
    own_data.EXPERIMENT,
    honest.EXPERIMENT,
    elbo.EXPERIMENT,
    pruning.EXPERIMENT,
    *papers.EXPERIMENTS,
]

if __name__ == "__main__":
    alone()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # tables are written on the way
    sys.exit(main(EXPERIMENTS, HOME))
