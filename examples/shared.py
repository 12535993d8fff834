"""What the examples share: their command line, data that may not be here, and the end of a picture."""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import torch
from matplotlib.figure import Figure
from torch import Tensor
from torch.nn import functional as F

from askwise.errors import AskwiseError, CorruptError

BLUE, ORANGE, GREEN, GREY = "#00629e", "#c45200", "#00805e", "#6b7480"
ROOT = Path(__file__).parent.parent
T = TypeVar("T")


def run(main: Callable[..., dict[str, float]], about: str | None, **numbers: int) -> None:
    """Run an example from the command line; `numbers` are further options with their defaults."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--small", action="store_true", help="seconds instead of minutes; no data needed")
    parser.add_argument("--data", type=Path, help="folder with data sets; otherwise that of ASKWISE_DATA")
    parser.add_argument("--out", type=Path, help="folder for the picture; otherwise results/examples")
    for name, default in numbers.items():
        parser.add_argument(f"--{name}", type=int, default=default, help=f"{default} unless given")
    options = vars(parser.parse_args())
    # A small run does not paint over the pictures of the full ones.
    usual = ROOT / (".runs/examples" if options["small"] else "results/examples")
    out, data_dir = options.pop("out") or usual, options.pop("data")
    for name, value in main(data_dir=data_dir, out=out, **options).items():
        print(f"{name:<34} {value:10.4f}")


def here(load: Callable[[], T], *, otherwise: str) -> T | None:
    """What `load` gives, or None and one line where it is not on this machine."""
    try:
        return load()
    except CorruptError:
        raise
    except AskwiseError as reason:
        print(f"{otherwise}: {reason}")
        return None


def save(figure: Figure, out: str | Path, name: str) -> Path:
    """The path of the picture, in a folder that is made if need be."""
    path = Path(out) / f"{name}.png"
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    print(f"picture: {path}")
    return path


def plain(axes: Any) -> Any:
    """The axes without the lines that say nothing."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.3)
    return axes


def picture(axes: Any, pixels: Any, title: str = "", **options: Any) -> Any:
    """An image without axes, and its title."""
    axes.set_axis_off()
    axes.set_title(title, fontsize=10)
    return axes.imshow(pixels.numpy() if isinstance(pixels, Tensor) else pixels, **options)


def tiled(images: Tensor, *, columns: int) -> Tensor:
    """Images [N, 1, H, W] side by side in one, with room between them."""
    framed = F.pad(images, (1, 1, 1, 1))
    rows = framed[: len(images) // columns * columns, 0].split(columns)
    return torch.cat([torch.cat(list(row), dim=1) for row in rows])
