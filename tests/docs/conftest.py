"""The pages are made by `website`, which lies beside the package."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent.parent))
