"""The public surface: lazy, quiet, and all there."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

import askwise as aw

CODE = """
import json, logging, random, sys, types, warnings

def ours():
    return [logging.root.level, len(logging.root.handlers), random.getstate(), len(warnings.filters)]

def theirs():
    numbers = torch.get_rng_state().sum().item(), int(np.random.get_state()[1].sum())
    return [*numbers, torch.get_num_threads(), str(torch.get_default_dtype())]

def kinds():
    return {name: type(getattr(aw, name)) for name in aw.__all__}

before = ours()
import askwise as aw
heavy = ("torch", "numpy", "sklearn", "matplotlib", "sqlalchemy", "askwise.bayes.fit")
early = [name for name in heavy if name in sys.modules]
after = ours()
import numpy as np, torch
states = [*ours(), *theirs()]
first = kinds()
print(json.dumps({
    "early": early,
    "changed by the import": [k for k, (a, b) in enumerate(zip(before, after)) if a != b],
    "changed by a name": [k for k, (a, b) in enumerate(zip(states, [*ours(), *theirs()])) if a != b],
    "other the second time": [name for name, kind in kinds().items() if kind is not first[name]],
    "modules": sorted(name for name, kind in first.items() if kind is types.ModuleType),
    "late": [name for name in heavy if name in sys.modules],
}))
"""


@pytest.fixture(scope="module")
def seen() -> dict[str, Any]:
    """What a new process finds that imports askwise and then looks at every public name."""
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_importing_askwise_imports_no_torch(seen: dict[str, Any]) -> None:
    assert seen["early"] == []
    assert "askwise.bayes.fit" in seen["late"]  # the control


def test_every_public_name_is_there_and_stays_what_it_is(seen: dict[str, Any]) -> None:
    assert seen["other the second time"] == []
    assert seen["modules"] == ["assess", "data", "encoders", "nets", "optim", "oracle", "pool", "tasks"]


def test_importing_changes_no_global_state(seen: dict[str, Any]) -> None:
    assert seen["changed by the import"] == []
    assert seen["changed by a name"] == []


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
