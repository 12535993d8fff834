"""Shapes in signatures are checked while the tests run."""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # two test processes on two cores

from jaxtyping import install_import_hook

install_import_hook("askwise", "beartype.beartype").__enter__()
