"""Where scoring runs: on the cores of this machine, or on a cluster."""

from askwise.engine.contract import Engine, Found, Shard, Work
from askwise.engine.local import Local
from askwise.engine.opening import ENGINES, open_engine
from askwise.engine.threads import threads

__all__ = ["ENGINES", "Engine", "Found", "Local", "Shard", "Work", "open_engine", "threads"]
