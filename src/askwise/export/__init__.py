"""Labels, predictions and models as files that other tools read."""

from askwise.export.items import pool_for

__all__ = ["pool_for"]
