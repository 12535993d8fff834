"""BatchBALD: time, quality of the picks, and what happens when draws are sharp."""

import math
from typing import Any

from speed.bench import Bench
from speed.contest import Contest, Entry, contest
from speed.finding import Finding
from speed.joint import CLASSES, DRAWS, joint_score, predictions
from speed.limit import joint_choice
from speed.line import Line, faster
from speed.process import ContestantError

CASES = {"unsaturated": 1.0, "saturated": 3.0}  # spread of the drawn weights around their mean
GOALS = {"unsaturated": 100.0, "saturated": 5.0}
OURS, REDUX = "askwise", "batchbald_redux"
SKACTIVEML, SKACTIVEML_DEFAULT = "scikit-activeml", "scikit-activeml's default"
_SHARP, _FEW = 300.0, 64  # a spread that makes most probabilities zero, and items to try it on
_SAMPLES = 2_500  # askwise's own default


def measure(bench: Bench) -> Finding:
    """Both cases against both peers."""
    lines: list[Line] = []
    facts: dict[str, Any] = {}
    for case, spread in CASES.items():
        log_probs = predictions(bench.sizes.n, spread=spread)
        found = contest(bench, _entries(bench, bench.file(f"log_probs_{case}", lambda it=log_probs: it)))
        quality = _quality(bench, found, log_probs[: bench.sizes.peer_n])
        lines += [*_lines(bench, case, found), _quality_line(case, quality)]
        facts[case] = {**found.facts(), "joint_score": quality}
    facts["sharp"] = _sharp(bench)
    return Finding([*lines, _nan_line(facts["sharp"])], facts)


def _entries(bench: Bench, file: str) -> list[Entry]:
    """Askwise on the whole pool, the peers on fewer items; they look at every item at every pick."""
    sizes = bench.sizes
    common: dict[str, Any] = {"file": file, "picks": sizes.picks}
    warm = {"n": 50, "picks": 2}

    def work(samples: int) -> float:
        return joint_choice(sizes.n, DRAWS, CLASSES, sizes.picks, samples)

    def rival(label: str, contestant: str, samples: int | None) -> Entry:
        options = {**common, "n": sizes.peer_n, "samples": samples}
        half = sizes.peer_n // 2 if sizes.peer_n < sizes.n else None
        return Entry(
            label, contestant, "batchbald", options, work(samples or DRAWS), sizes.n, smaller=half, warm=warm
        )

    return [
        Entry(OURS, "askwise", "batchbald", {**common, "n": sizes.n}, work(_SAMPLES), sizes.n, warm=warm),
        rival(REDUX, "batchbald_redux", sizes.joint_samples),
        rival(SKACTIVEML, "scikit_activeml", sizes.joint_samples),
        rival(SKACTIVEML_DEFAULT, "scikit_activeml", None),
    ]


def _lines(bench: Bench, case: str, found: Contest) -> list[Line]:
    what = f"BatchBALD, {case}, K = {DRAWS}, {bench.sizes.picks} picks, N = {bench.sizes.n:,}"
    rivals = [(REDUX, "redux", GOALS[case]), (SKACTIVEML, "skactiveml", None)]
    rivals.append((SKACTIVEML_DEFAULT, "skactiveml_default", 1.0))
    return [
        faster(found, OURS, rival, key=f"batchbald.{case}.{key}", what=f"{what}: {rival}", goal=goal)
        for rival, key, goal in rivals
    ]


def _quality(bench: Bench, found: Contest, log_probs: Any) -> dict[str, Any]:
    """Joint scores of everybody's picks among the same few items, by the referee."""
    own = found.timings[OURS].entry
    options = {**own.options, "n": len(log_probs)}
    answers = {label: timing.answer for label, timing in found.timings.items() if timing.error is None}
    answers[OURS] = bench.contestant("askwise").ask("run", own.task, options, repeats=1)
    out: dict[str, Any] = {}
    for label, answer in answers.items():
        score, error = joint_score(log_probs, answer["picks"])
        out[label] = {"score": score, "standard_error": error, "picks": answer["picks"]}
    return out


def _sharp(bench: Bench) -> dict[str, Any]:
    """Picks where most probabilities are zero in float32; batchbald_redux also in float32."""
    log_probs = predictions(_FEW, spread=_SHARP)
    base = {"file": bench.file("log_probs_sharp", lambda: log_probs), "n": _FEW, "picks": bench.sizes.picks}
    sampled = {**base, "samples": bench.sizes.joint_samples}
    runs = {
        OURS: ("askwise", base),
        f"{REDUX} in float64": ("batchbald_redux", sampled),
        f"{REDUX} in float32": ("batchbald_redux", {**sampled, "dtype": "float32"}),
        SKACTIVEML: ("scikit_activeml", sampled),
    }
    out: dict[str, Any] = {}
    for label, (contestant, options) in runs.items():
        try:
            answer = bench.contestant(contestant).ask("run", "batchbald", options, repeats=1)
        except ContestantError as error:
            out[label] = {"error": str(error)}
            continue
        score, _ = joint_score(log_probs, answer["picks"])
        out[label] = {**answer, "score": score, "distinct": len(set(answer["picks"]))}
    return out


def _quality_line(case: str, found: dict[str, Any]) -> Line:
    what = (
        f"BatchBALD, {case}: joint score of the picks, by a referee (at most log K = {math.log(DRAWS):.3f})"
    )
    told = "; ".join(f"{label} {one['score']:.3f}" for label, one in found.items())
    return Line(f"batchbald.{case}.quality", what, told)


def _nan_line(sharp: dict[str, Any]) -> Line:
    """Ours must choose distinct items with a finite joint score, also where draws are sharp."""
    own = sharp[OURS]
    bad = 1 if "error" in own else int(own["distinct"] < len(own["picks"]) or not math.isfinite(own["score"]))
    told = [
        f"{label}: {one['error'] if 'error' in one else str(one.get('nan', 0)) + ' NaN'}"
        for label, one in sharp.items()
    ]
    what = f"BatchBALD, sharp draws, {_FEW} items: no NaN"
    return Line("batchbald.nan", what, "; ".join(told), bad, goal=0, sense="at most", unit=" bad")
