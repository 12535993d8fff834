"""One call of dropout in a network: how its mask looks, and where the items go in it."""

from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True)
class Site:
    """The mask of one dropout call, without the items; `shape` has the item axis divided by their number."""

    name: str
    keep: float
    shape: tuple[int, ...]
    item_axis: int | None
    items_first: bool = True

    @property
    def merged(self) -> bool:
        """Whether the network has merged the items with another axis (attention: items x heads)."""
        return self.item_axis is not None and self.shape[self.item_axis] > 1

    def spread(self, mask: Tensor, items: int) -> Tensor:
        """The mask for a batch of items: repeated where items are merged, otherwise it broadcasts."""
        if self.item_axis is None or not self.merged:
            return mask
        at = self.item_axis if self.items_first else self.item_axis + 1
        sizes = [-1] * (mask.ndim + 1)
        sizes[at] = items
        return mask.unsqueeze(at).expand(sizes).flatten(self.item_axis, self.item_axis + 1)
