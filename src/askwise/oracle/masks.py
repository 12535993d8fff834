"""Masks as labels: small pictures of class numbers, kept beside the store under the hash of their bytes."""

import hashlib
import io
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import UInt8
from torch import Tensor

from askwise.errors import CorruptError, InputError, StoreError
from askwise.files import sync, write_whole
from askwise.store.facts import Told
from askwise.store.labels import Mask

_MODES = ("L", "P", "1", "I", "I;16")  # of pictures whose pixels are numbers
_MOST = 256  # classes that a byte can tell apart


class Masks:
    """The masks of a run: noted when they are checked, kept when they are told, read back by their hash.

    Without a folder they live as long as the process, like the store they belong to.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._noted: dict[str, bytes] = {}

    def noted(self, mask: UInt8[np.ndarray, "H W"]) -> Mask:
        """The label that a mask becomes; its bytes are held until it is kept."""
        from PIL import Image

        stream = io.BytesIO()
        Image.fromarray(mask).save(stream, "PNG")
        content = stream.getvalue()
        digest = hashlib.sha256(content).hexdigest()
        self._noted[digest] = content
        return Mask(f"{digest[:20]}.png", digest)

    def keep(self, masks: Iterable[Mask]) -> None:
        """Write these masks, whole and on the disk."""
        if self._folder is None:
            return
        try:
            new = [mask for mask in masks if mask.sha256 in self._noted]
            for mask in new:
                self._folder.mkdir(exist_ok=True)
                if not (self._folder / mask.file).exists():
                    write_whole(self._folder / mask.file, self._noted[mask.sha256])
            if new:
                sync(self._folder)
        except OSError as error:
            raise StoreError(f"masks cannot be kept in {self._folder}: {error.strerror or error}") from error
        for mask in new:
            self._noted.pop(mask.sha256, None)  # twice in one telling, or by another thread

    def array(self, mask: Mask) -> UInt8[np.ndarray, "H W"]:
        """The classes of all pixels of a mask that was noted or kept; a damaged one is refused by name."""
        content = self._noted.get(mask.sha256)
        if content is None:
            try:
                content = (self._folder / mask.file).read_bytes() if self._folder is not None else b""
            except OSError:
                content = b""
            if hashlib.sha256(content).hexdigest() != mask.sha256:
                raise CorruptError(
                    f"mask {mask.file} is not the one that was told; restore it from a copy"
                    + (f" into {self._folder}" if self._folder is not None else "")
                )
        from PIL import Image

        found: np.ndarray = np.array(Image.open(io.BytesIO(content)))
        return found


def mask_of(told: Told, *, folder: Path | None, what: str) -> UInt8[np.ndarray, "H W"]:
    """The mask that an array, a tensor or the path of a picture stands for."""
    if isinstance(told, str | Path):
        found = _read(Path(told) if folder is None else folder / told, what)
    elif isinstance(told, Tensor | np.ndarray):
        found = np.asarray(told)
    else:
        raise InputError(
            f"{what} must be a mask, an array [H, W] of class numbers or the path of a picture, "
            f"not a {type(told).__name__}"
        )
    if found.ndim != 2 or found.dtype.kind not in "iub":
        raise InputError(
            f"{what} must be a mask of whole numbers [H, W], not {found.dtype} of shape {list(found.shape)}"
        )
    if found.size and not 0 <= int(found.min()) <= int(found.max()) < _MOST:
        raise InputError(
            f"{what} has a pixel of {int(found.min() if found.min() < 0 else found.max())}; "
            f"numbers of classes, and ignore, lie between 0 and {_MOST - 1}"
        )
    mask: np.ndarray = found.astype(np.uint8)
    return mask


def _read(path: Path, what: str) -> Any:
    from PIL import Image, UnidentifiedImageError

    try:
        if path.suffix.lower() == ".npy":
            return np.load(path, allow_pickle=False)
        with Image.open(path) as picture:
            if picture.mode not in _MODES:
                raise InputError(
                    f"{what}: {path} has colours ({picture.mode}); a mask's pixels are numbers of classes: "
                    "save it with a palette or in grey"
                )
            return np.array(picture)
    except FileNotFoundError:
        raise InputError(f"{what} names the mask {str(path)!r}, and there is no such file") from None
    except (OSError, ValueError, UnidentifiedImageError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{what}: {path} cannot be read as a mask: {error}") from None
