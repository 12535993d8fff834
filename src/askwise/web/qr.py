"""Links as QR codes, for a phone: in the terminal, and as rows of modules for the page."""

import io

import segno


def modules(link: str) -> list[str]:
    """The rows of the code, 1 for a dark module."""
    return ["".join(str(int(bool(one))) for one in row) for row in segno.make_qr(link, error="m").matrix]


def printed(link: str) -> str:
    """The code in the characters of a terminal."""
    out = io.StringIO()
    segno.make_qr(link, error="l").terminal(out, compact=True)
    return out.getvalue()
