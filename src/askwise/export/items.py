"""New items as a saved model takes them: read and encoded as the items that it learned from."""

from pathlib import Path

from askwise import encoders
from askwise.bayes.fitted import Fitted, as_fitted
from askwise.errors import InputError
from askwise.math.digest import network_digest
from askwise.pool import Pool, features, prepared


def pool_for(
    model: Fitted, path: str | Path, *, cache: str | Path | None = None, folder: Path | None = None
) -> Pool:
    """The items of a folder or file as the model takes them: `aw.predict(model, aw.pool_for(model, path))`.

    Nothing is retyped: size, stretch, columns and encoder are the model's. Features are kept in
    `cache`, so that of a folder that grows only what is new is encoded. An encoder of one's own is
    looked for in `folder` first.

    >>> import numpy as np
    >>> from dataclasses import replace
    >>> np.save("new.npy", x[:5].numpy())
    >>> model = replace(fitted, preparation={"kind": "arrays", "scale": None})   # as a project saves it
    >>> aw.predict(model, aw.pool_for(model, "new.npy")).mean.shape
    torch.Size([5, 2])
    """
    how = dict(as_fitted(model).preparation)
    name, digest = how.pop("encoder", None), how.pop("encoder_digest", None)
    if not how:
        raise InputError("the model does not say how its items were read; pass them as a tensor or an array")
    if digest is not None and name is None:
        raise InputError("the model's encoder has no name; pass features made by it as a tensor or an array")
    if name is None:
        return prepared(path, how)
    encoder = encoders.load(name, folder=folder)
    if encoder is None or (digest is not None and network_digest(encoder.module, weights=True) != digest):
        raise InputError(
            f"the encoder {name} is not the one that the model learned from; "
            "install that version, or train again"
        )
    items = prepared(path, how, encode=encoder.reading.get("encode"))
    return features(items, encoder.module, cache=cache)
