"""How a case ends: refused, set aside or taken."""

import contextlib
import io
from collections.abc import Callable
from typing import Any

from askwise.cli import call
from askwise.errors import AskwiseError


def refused(act: Callable[[], Any]) -> str:
    """The line of the error; or that there was none."""
    try:
        act()
    except AskwiseError as error:
        return f"refused: {error}"
    return "taken"


def command(*words: str) -> str:
    """The line that a command is refused with."""
    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
        code = call(list(words))
    line = said.getvalue().strip().removeprefix("askwise: ")
    return f"refused: {line}" if code == 2 else "taken"


def aside(reasons: dict[str, str], name: str) -> str:
    """The reason why an item is set aside; or that it is not."""
    return f"set aside: {reasons[name]}" if name in reasons else "taken"
