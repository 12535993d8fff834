"""Links as QR codes, for a phone: in the terminal, and as rows of modules for the page."""

import io
from importlib.util import find_spec


def modules(link: str) -> list[str] | None:
    """The rows of the code, 1 for a dark module; none where the package segno is not installed."""
    if find_spec("segno") is None:
        return None
    import segno

    return ["".join(str(int(bool(one))) for one in row) for row in segno.make_qr(link, error="m").matrix]


def printed(link: str) -> str:
    """The code in the characters of a terminal; empty where the package segno is not installed."""
    if find_spec("segno") is None:
        return ""
    import segno

    out = io.StringIO()
    segno.make_qr(link, error="l").terminal(out, compact=True)
    return out.getvalue()
