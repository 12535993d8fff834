"""Why a number is not reached, found by profiling; by the key of its line."""

REASONS: dict[str, str] = {}
