"""An error of the work, told across a pipe and raised again."""

import traceback
from typing import Any

from askwise import errors


def told(error: BaseException) -> dict[str, Any]:
    """The error as JSON holds it."""
    return {
        "kind": type(error).__name__,
        "message": str(error),
        "trace": "".join(traceback.format_exception(error)),
    }


def raised(found: dict[str, Any]) -> Exception:
    """The error again: askwise's own by its name, any other with the worker's traceback."""
    kind = getattr(errors, found["kind"], None)
    if isinstance(kind, type) and issubclass(kind, errors.AskwiseError):
        return kind(found["message"])
    return errors.EngineError(
        f"a worker stopped at {found['kind']}: {found['message']}\n\nIn the worker:\n{found['trace']}"
    )
