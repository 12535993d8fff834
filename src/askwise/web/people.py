"""Who may answer: one secret token for each person."""

import secrets
from collections.abc import Sequence

from askwise.errors import InputError


def tokens(names: Sequence[str]) -> dict[str, str]:
    """The name of each person by a new token."""
    for name in names:
        if not name.strip() or not name.isprintable() or len(name) > 60:
            raise InputError(f"{name!r} is no name of a person; give 1 to 60 letters that can be read")
        if list(names).count(name) > 1:
            raise InputError(f"--person {name} is given twice")
    return {secrets.token_urlsafe(32): name for name in names}
