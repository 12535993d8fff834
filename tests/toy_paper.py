"""A paper whose runs take no time: what is run, kept, compared and written can be seen."""

from askwise.papers.curves import area_column, area_of, labels_column
from askwise.papers.record import Claim, Entry, Line, Pair, Paper, Picture, Table
from askwise.report.content import Curve

CALLS: list[tuple[str, int]] = []


def curve(settings, seed, place):
    CALLS.append((settings["method"], seed))
    assert place.scratch.is_dir()
    height = settings["height"] + 0.001 * seed + 0.002 * (seed % 2) * settings["height"]
    return {"labels": [10, 20, 30], "accuracy": [height, height + 0.1, height + 0.2], "validation": 0}


def entry(method: str, height: float, *, quick: bool) -> Entry:
    settings = {"quick": quick, "method": method, "height": height}
    return Entry(name=method, settings=settings, run=curve, seconds=1800.0)


def tables(quick: bool):
    entries = {name: entry(name, height, quick=quick) for name, height in (("good", 0.7), ("random", 0.5))}
    lines = [Line(words=(name,), entry=one, theirs={"to_90": "15"}) for name, one in entries.items()]
    return [
        Table(
            key="1",
            title="toy",
            source="Table 1.",
            protocol="Quick: few." if quick else "All.",
            heads=("method",),
            lines=lines,
            columns=(labels_column(0.9), area_column()),
            pictures=[
                Picture(
                    name="toy",
                    title="Toy",
                    entries={name: name for name in entries},
                    theirs=lambda _: [Curve(name="good", seeds=[0], labels=[10, 30], values=[[0.5, 0.9]])],
                )
            ],
            cited=("Others had 3 %.",),
        )
    ]


def pair(ours: str, other: str) -> Pair:
    return Pair(
        ours=ours, baseline=other, measure=area_of(), expected="higher", words=f"{ours} minus {other}"
    )


def claims(_quick: bool):
    return [
        Claim(sentence="Good is better.", table="1", pairs=[pair("good", "random")]),
        Claim(sentence="Random is better.", table="1", pairs=[pair("random", "good")]),
        Claim(sentence="Good beats itself.", table="1", pairs=[pair("good", "good")]),
    ]


PAPER = Paper(
    name="toy", title="A toy", cited="Nobody 2000.", tables=tables, claims=claims, quick_seeds=(0, 1)
)
