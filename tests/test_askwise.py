"""The public surface: lazy, quiet, and all there."""

import subprocess
import sys
import tomllib
from pathlib import Path

import askwise as aw


def python(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_importing_askwise_imports_no_torch() -> None:
    heavy = "('torch', 'numpy', 'sklearn', 'matplotlib', 'sqlalchemy')"
    assert python(f"import sys, askwise; print([m for m in {heavy} if m in sys.modules])") == "[]\n"
    assert "torch" in python("import sys, askwise; askwise.fit; print('torch' in sys.modules and 'torch')")


def test_every_public_name_is_there_and_stays_what_it_is() -> None:
    code = """
import types, askwise as aw
kinds = lambda: {name: type(getattr(aw, name)) for name in aw.__all__}
first = kinds()
assert first == kinds(), 'a name changed once its module was imported'
print(sorted(name for name, kind in first.items() if kind is types.ModuleType))
"""
    assert python(code) == "['assess', 'data', 'encoders', 'nets', 'optim', 'oracle', 'pool', 'tasks']\n"


def test_importing_changes_no_global_state() -> None:
    code = """
import logging, random, warnings
import numpy as np, torch
def state():
    yield from (logging.root.level, len(logging.root.handlers), random.getstate(), len(warnings.filters))
    yield from (torch.get_rng_state().sum().item(), np.random.get_state()[1].sum())
    yield from (torch.get_num_threads(), torch.get_default_dtype())
before = list(state())
import askwise as aw
[getattr(aw, name) for name in aw.__all__]
print([k for k, (a, b) in enumerate(zip(before, state())) if a != b])
"""
    assert python(code) == "[]\n"


def test_the_version_stands_in_one_place() -> None:
    root = Path(__file__).parent.parent
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["dynamic"] == ["version"]
    assert "version" not in project["project"]
    home = root / project["tool"]["hatch"]["version"]["path"]
    assert f'__version__ = "{aw.__version__}"' in home.read_text(encoding="utf-8")
    assert (
        (root / "CHANGELOG.md").read_text(encoding="utf-8").splitlines()[1].startswith(f"## {aw.__version__}")
    )
