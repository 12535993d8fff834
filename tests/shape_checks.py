"""Checks the shapes in signatures while the tests run: the first calls of every function in each test.

A check costs more than many a function that it guards; all of them would double the time of the suite.
"""

import functools
import re
from collections import Counter
from collections.abc import Callable
from importlib.util import find_spec
from inspect import isfunction
from pathlib import Path
from types import CodeType
from typing import Any

import jaxtyping

CALLS = 3
"""So many calls of a function are checked in each test."""

_checked: Counter[CodeType] = Counter()
_jaxtyped = jaxtyping.jaxtyped


def install() -> None:
    """Check what is imported from now on."""
    jaxtyping.jaxtyped = _sampled
    jaxtyping.install_import_hook(_with_shapes(), "beartype.beartype").__enter__()


def begin_test() -> None:
    """Check the first calls of every function again."""
    _checked.clear()


def _with_shapes() -> list[str]:
    """The modules that have shapes in their signatures; plain types are mypy's part."""
    source = Path(find_spec("askwise").submodule_search_locations[0])
    found = [
        path.relative_to(source.parent).with_suffix("")
        for path in source.rglob("*.py")
        if re.search(r"^from (jaxtyping|askwise\.types) import", path.read_text(), re.MULTILINE)
    ]
    return [".".join(path.parts).removesuffix(".__init__") for path in found]


def _sampled(*, typechecker: Any) -> Callable[[Any], Any]:
    """jaxtyping's decorator, which lets a function run unchecked after its first calls.

    A check is made when it is first wanted, and a function within a function is the same one however
    often it is defined: to make a check takes longer than to run it.
    """

    def decorate(found: Any) -> Any:
        if not isfunction(found):
            return _jaxtyped(found, typechecker=typechecker)
        checked, code = None, found.__code__

        @functools.wraps(found)
        def call(*arguments: Any, **options: Any) -> Any:
            nonlocal checked
            _checked[code] += 1
            if _checked[code] > CALLS:
                return found(*arguments, **options)
            checked = checked or _jaxtyped(found, typechecker=typechecker)
            return checked(*arguments, **options)

        return call

    return decorate
