"""Where scoring runs: on the cores of this machine, or on a cluster."""

from askwise.engine.contract import Engine, Shard, ShardResult, Work
from askwise.engine.journal import remembered
from askwise.engine.local import Local
from askwise.engine.opening import ENGINES, kept, open_engine
from askwise.engine.threads import threads

__all__ = [
    "ENGINES",
    "Engine",
    "Local",
    "Shard",
    "ShardResult",
    "Work",
    "kept",
    "open_engine",
    "remembered",
    "threads",
]
