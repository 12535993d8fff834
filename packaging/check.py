"""Build the wheel and the sdist, and try them in fresh environments: `make package`.

The page's files are inside, the command says its version, a small model learns and saves, and the page
answers. `--extras` installs each extra by itself and imports what it brings: slow, and large.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
SMOKE = Path(__file__).with_name("smoke.py")
EXTRAS = {
    "vision": ["pillow_heif", "tifffile"],
    "text": [],
    "transformers": ["transformers"],
    "onnx": ["onnx", "onnxscript", "onnxruntime"],
    "postgres": ["psycopg"],
    "ray": ["ray"],
}
INSIDE = ("askwise/py.typed", "askwise/web/static/index.html")


def run(*command: str | Path, **how: object) -> None:
    print("$", *command, flush=True)
    subprocess.run([str(part) for part in command], check=True, **how)  # type: ignore[call-overload]


def built(folder: Path) -> tuple[Path, Path]:
    run(sys.executable, "-m", "build", "--outdir", folder, ROOT)
    [wheel], [sdist] = folder.glob("*.whl"), folder.glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as inside:
        names = set(inside.namelist())
    with tarfile.open(sdist) as packed:
        packed_names = {name.split("/", 1)[-1] for name in packed.getnames()}
    static = [
        path.relative_to(ROOT / "src")
        for path in (ROOT / "src/askwise/web/static").rglob("*")
        if path.is_file()
    ]
    for name in [*INSIDE, *map(Path.as_posix, static)]:
        if (ROOT / "src" / name).exists() and not (name in names and f"src/{name}" in packed_names):
            sys.exit(f"{name} is not inside {wheel.name} or {sdist.name}")
    stray = sorted(name for name in names if not name.startswith(("askwise/", "askwise-")))
    if stray:
        sys.exit(f"{wheel.name} holds {stray[0]}, which is no part of askwise")
    print(f"{wheel.name}: {len(names)} files, {len(static)} of them the page's")
    return wheel, sdist


def environment(folder: Path, python: str) -> Path:
    run(python, "-m", "venv", folder)
    return folder / "bin" / "python"


def install(python: Path, what: str) -> None:
    run(python, "-m", "pip", "install", "--quiet", "-c", ROOT / "constraints.txt", what)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", action="append", help="an interpreter to try; repeatable")
    parser.add_argument("--sdist", action="store_true", help="try the sdist as well")
    parser.add_argument("--extras", nargs="*", metavar="EXTRA", help="try these extras, or all")
    parser.add_argument("--keep", type=Path, help="leave wheel and sdist in this folder")
    given = parser.parse_args()
    os.environ.pop("PYTHONPATH", None)
    with tempfile.TemporaryDirectory() as place:
        here = Path(place)
        wheel, sdist = built(here / "dist")
        if given.keep:
            given.keep.mkdir(parents=True, exist_ok=True)
            for path in (wheel, sdist):
                shutil.copy(path, given.keep)
        for python in given.python or [sys.executable]:
            for what in [wheel, *([sdist] if given.sdist else [])]:
                fresh = environment(here / "fresh", python)
                install(fresh, f"askwise @ file://{what}")
                run(fresh, SMOKE, cwd=here)
                shutil.rmtree(here / "fresh")
        if given.extras is not None:
            for extra in given.extras or EXTRAS:
                fresh = environment(here / "fresh", sys.executable)
                install(fresh, f"askwise[{extra}] @ file://{wheel}")
                run(fresh.with_name("askwise"), "encoders", cwd=here)
                imports = "; ".join(f"import {name}" for name in ["askwise", *EXTRAS[extra]])
                run(fresh, "-c", imports, cwd=here)
                print(f"extra {extra}: fine")
                shutil.rmtree(here / "fresh")


if __name__ == "__main__":
    main()
