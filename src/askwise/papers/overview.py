"""One page on all papers: how to run them, and a sentence on each claim with what our runs say of it."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from askwise.papers.claims import NONE, OPEN, Decided
from askwise.papers.outcome import Outcome, outcome
from askwise.papers.record import Paper
from askwise.papers.work import rows, runs_file

_INTRO = """# The papers' tables, theirs beside ours
`askwise reproduce PAPER` prints a paper's tables from the runs in results/PAPER/runs.jsonl, theirs beside \
ours, and says which of its claims hold. It runs nothing unless it is asked to:

<!-- not run: hours; tests/cli/test_cli_reproduce.py runs the commands on a toy paper -->
```console
askwise reproduce                              the papers, and how many runs are there
askwise reproduce gal2017 --quick              the reduced protocol: every row of every table
askwise reproduce gal2017 --table a --seeds 0-9     the protocol in full, ten seeds
make results ONLY=gal2017_quick,gal2017        the same through the queue, which can be stopped anywhere
```

The expected hours are printed before runs start. Interrupted, the same command goes on. Every run keeps \
its command, commit, seed, protocol, machine, curve and times; a run of another protocol does not count. \
Data come from `--data DIR` or ASKWISE_DATA, otherwise what is missing is named with the command that \
fetches it; with a folder gal2017_curves in it (curves.json, the authors' stored curves) the pictures have \
theirs as dashed lines.

A claim is decided by differences paired over the seeds (t intervals, Holm's correction over all \
comparisons of the paper): it *holds*, it *does not hold* (one comparison is significantly the other way \
round), or it is *not decided by these runs*. "Fewer labels" is decided by the area under the learning \
curve, because labels to a target are unknown for a run that does not reach it. Quick protocols are \
reduced (their tables say how), mostly to the 8 x 8 digits of scikit-learn: what they decide is decided \
for them alone. Labels for validation count in every total of ours.
"""


def overview(papers: Mapping[str, Paper], *, out: Path) -> str:
    """The page as Markdown."""
    parts = [_INTRO]
    for paper in papers.values():
        told = outcome(paper, out=out, draw=False)
        count = len(rows(runs_file(out, paper)))
        parts += [
            f"## {paper.title}",
            "",
            paper.cited,
            "",
            _where(paper, count),
            "",
            *_claims(paper, told),
            "",
        ]
    return "\n".join(parts)


def _where(paper: Paper, count: int) -> str:
    if not count:
        return "No runs are here yet."
    return f"{count} runs: [results/{paper.name}/tables.md](../results/{paper.name}/tables.md)."


def _claims(paper: Paper, told: Outcome) -> list[str]:
    """One line for each claim: the verdict in full and under the quick protocol."""
    verdicts = {quick: _by_sentence(decided) for quick, decided in told.claims.items()}
    lines = ["| table | claim | in full | quick protocol |", "|---|---|---|---|"]
    for claim in paper.claims(False):
        cells = [
            verdicts[quick].get(claim.sentence, OPEN) if quick in verdicts else NONE
            for quick in (False, True)
        ]
        lines.append(f"| {claim.table} | {claim.sentence} | {' | '.join(cells)} |")
    return lines


def _by_sentence(decided: Sequence[Decided]) -> dict[str, str]:
    return {one.claim.sentence: one.verdict for one in decided}
