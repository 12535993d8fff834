"""Whether a paper's claims hold in our runs: paired over seeds, t intervals, Holm's correction."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

from askwise.math.paired import Difference, Verdict, difference, holm, verdict
from askwise.papers.record import Claim, Pair, Results

HOLDS, FAILS, OPEN = "holds", "does not hold", "not decided by these runs"
NONE = "no runs yet"


@dataclass(frozen=True)
class Decided:
    """A claim, what became of it, and the comparison behind each of its pairs."""

    claim: Claim
    verdict: str
    reasons: Sequence[str]


def decide(claims: Sequence[Claim], results: Results) -> list[Decided]:
    """The verdict on each claim; all their comparisons are corrected together, by Holm.

    What several claims compare counts once. A claim holds if every comparison does, and fails if one is
    significantly the other way round. What is counted, not sampled, is compared as it is.
    """
    pairs = {_name(pair): pair for claim in claims for pair in claim.pairs}
    sampled = {name: pair for name, pair in pairs.items() if not pair.counted}
    found = {name: one for name, pair in sampled.items() if (one := _difference(pair, results)) is not None}
    adjusted = dict(zip(found, holm([one.p for one in found.values()]), strict=True))
    decided = []
    for claim in claims:
        states: list[Verdict] = []
        reasons: list[str] = []
        for pair in claim.pairs:
            name = _name(pair)
            one = found.get(name)
            if pair.counted:
                states.append(_sign(pair, results))
                reasons.append(_counts(pair, results))
                continue
            states.append("undecided" if one is None else verdict(one, adjusted[name]))
            reasons.append(_reason(pair, one, adjusted.get(name), results))
        seen = any(_shared(pair, results) for pair in claim.pairs)
        decided.append(Decided(claim, _verdict(claim, states) if seen else NONE, reasons))
    return decided


def _name(pair: Pair) -> Hashable:
    """What tells one comparison from another; its words say which measure is meant."""
    return pair.ours, pair.baseline, pair.gains, pair.words


def _verdict(claim: Claim, states: Sequence[str]) -> str:
    """Of the whole claim."""
    if claim.pairs and all(told == pair.expected for told, pair in zip(states, claim.pairs, strict=True)):
        return HOLDS
    if any(told not in ("undecided", pair.expected) for told, pair in zip(states, claim.pairs, strict=True)):
        return FAILS
    return OPEN


def _difference(pair: Pair, results: Results) -> Difference | None:
    shared = _shared(pair, results)
    if len(shared) < 2:
        return None
    return difference([ours for ours, _ in shared], [baseline for _, baseline in shared])


def _sign(pair: Pair, results: Results) -> Verdict:
    """Which way all gaps of a counted measure go."""
    gaps = [ours - baseline for ours, baseline in _shared(pair, results)]
    if gaps and min(gaps) > 0:
        return "higher"
    return "lower" if gaps and max(gaps) < 0 else "undecided"


def _counts(pair: Pair, results: Results) -> str:
    gaps = sorted({ours - baseline for ours, baseline in _shared(pair, results)})
    return f"{pair.words}: {', '.join(f'{gap:+.4g}' for gap in gaps) or NONE}{' (counted)' if gaps else ''}"


def _shared(pair: Pair, results: Results) -> list[tuple[int | float, int | float]]:
    """Ours and the baseline's, for each seed that both have."""
    ours, baseline = _values(pair.ours, pair, results), _baseline(pair, results)
    if pair.gains is not None:
        ours, baseline = (
            {seed: value - low[seed] for seed, value in found.items() if seed in low}
            for found, low in zip(
                (ours, baseline), (_values(entry, pair, results) for entry in pair.gains), strict=True
            )
        )
    return [(value, baseline[seed]) for seed, value in ours.items() if seed in baseline]


def _values(entry: str, pair: Pair, results: Results) -> dict[int, int | float]:
    """The measure by seed, where it has a value."""
    found = {seed: pair.measure(row) for seed, row in results.get(entry, {}).items()}
    return {seed: value for seed, value in found.items() if value is not None}


def _baseline(pair: Pair, results: Results) -> Mapping[int, int | float]:
    if isinstance(pair.baseline, str):
        return _values(pair.baseline, pair, results)
    return dict.fromkeys(results.get(pair.ours, {}), float(pair.baseline))


def _reason(pair: Pair, one: Difference | None, p: float | None, results: Results) -> str:
    if one is None or p is None:
        told = [f"{ours - baseline:+.4g}" for ours, baseline in _shared(pair, results)]
        return f"{pair.words}: {f'{told[0]} (one seed, no interval)' if told else NONE}"
    size = "< .001" if p < 0.001 else f"{p:.3f}".removeprefix("0")
    return (
        f"{pair.words}: {one.mean:+.4g} ({one.low:+.4g} to {one.high:+.4g}, "
        f"{one.n} seeds, p {size if size.startswith('<') else f'= {size}'})"
    )
