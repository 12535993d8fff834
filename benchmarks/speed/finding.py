"""What one measurement found."""

from dataclasses import asdict, dataclass
from typing import Any

from speed.line import Line


@dataclass(frozen=True)
class Finding:
    """The lines of the table, and every number behind them."""

    lines: list[Line]
    facts: dict[str, Any]

    @property
    def complete(self) -> bool:
        """Whether everything that has a goal could be measured."""
        return all(line.value is not None for line in self.lines if line.goal is not None)

    def record(self) -> dict[str, Any]:
        """As JSON holds it."""
        return {"lines": [asdict(line) for line in self.lines], "facts": self.facts}


def recorded(record: dict[str, Any]) -> Finding:
    """The finding that was written down."""
    return Finding([Line(**line) for line in record["lines"]], record["facts"])
