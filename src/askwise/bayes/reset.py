"""New weights for a network, drawn from a seed."""

import torch
from torch import nn

from askwise.errors import InputError
from askwise.seeding import derive, torch_alone


def reset(network: nn.Module, seed: int) -> None:
    """Draw new weights for every module that is not frozen; refused where a module cannot make them."""
    with torch_alone(), torch.random.fork_rng():
        torch.manual_seed(derive(seed, "reset"))
        for name, module in network.named_modules():
            own = [p for p in module.parameters(recurse=False) if p.requires_grad]
            make = getattr(module, "reset_parameters", None) or getattr(module, "_reset_parameters", None)
            if own and make is None:
                kind = type(module).__name__
                raise InputError(
                    f"{name or 'the network'} ({kind}) has parameters of its own and no reset_parameters(); "
                    "add that method, freeze them, or use start='given'"
                )
            if own and make is not None:
                make()
