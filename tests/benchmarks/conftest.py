"""The folder benchmarks/ is no package of ours: its modules are imported by their own names."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent.parent / "benchmarks"))
