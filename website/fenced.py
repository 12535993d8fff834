"""The examples of docstrings as code on the site: to Markdown, `>>>` alone would be a quotation."""

import re
from typing import Any

from griffe import Extension, Object

_EXAMPLE = re.compile(r"^>>> .*?(?=\n\n|\Z)", re.MULTILINE | re.DOTALL)


def fenced(docstring: str) -> str:
    """The docstring with a fence around each example, which lasts until an empty line."""
    return _EXAMPLE.sub(lambda found: f"```pycon\n{found[0]}\n```", docstring)


class Fenced(Extension):
    """What mkdocstrings calls for every name that it documents."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Put the fences into the docstring of the name, where it has one."""
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)
