"""BALD of a pool of images under T draws of Gal's CNN: askwise beside those who run T whole passes."""

from dataclasses import replace

from speed.bench import Bench
from speed.contest import Contest, Entry, contest, footprint
from speed.finding import Finding
from speed.limit import early_mask, encoder_passes, last_layer, masked_suffix, whole_passes
from speed.line import Line, failed, faster, near_limit, of_spread
from speed.spread import spread

OURS, NEW, MANY = "askwise", "askwise with a new model", "askwise with many draws"
PLAIN, BAAL, BAAL_DEFAULT, INTEL, BLITZ = (
    "plain loop",
    "Baal's loop",
    "Baal's default",
    "bayesian-torch",
    "blitz",
)
_WORK = {
    "mc_dropout": masked_suffix,
    "bnn1": last_layer,
    "all_bayesian": whole_passes,
    "early_dropout": early_mask,
    "encoder": encoder_passes,
}
_FEW = 16  # items of a rival's untimed run


def mc_dropout(bench: Bench) -> Finding:
    """MC dropout, and its memory."""
    own = ours(bench, "mc_dropout")
    rivals = [
        _rival(bench, PLAIN, "plain", "mc_dropout"),
        _rival(bench, BAAL, "baal", "loop"),
        _rival(bench, BAAL_DEFAULT, "baal", "replicate"),
    ]
    found = contest(bench, [own, _new(own), *rivals])
    memory = footprint(bench, own)
    what = f"MC dropout, Gal's CNN, {_size(own)}"
    lines = [
        _beside(found, PLAIN, "mc_dropout.plain", what, goal=130),
        _beside(found, BAAL, "mc_dropout.baal", what, goal=120),
        _beside(found, BAAL_DEFAULT, "mc_dropout.baal_default", what, goal=150),
        _memory(memory, what),
        near_limit(found, OURS, key="mc_dropout.limit", what=f"{what}: near the limit", goal=1.4),
        _beside(found, NEW, "mc_dropout.new", what),
    ]
    return Finding(lines, {**found.facts(), "memory": memory})


def few(bench: Bench) -> Finding:
    """MC dropout on as many items as most papers score each round, and a new model on fewer."""
    own = ours(bench, "mc_dropout", n=bench.sizes.few_n)
    rivals = [
        _rival(bench, PLAIN, "plain", "mc_dropout", scaled_to=bench.sizes.few_n),
        _rival(bench, BAAL, "baal", "loop", scaled_to=bench.sizes.few_n),
    ]
    found = contest(bench, [own, *rivals])
    what = f"MC dropout, Gal's CNN, {_size(own)}"
    lines = [
        _beside(found, PLAIN, "few.plain", what, goal=100),
        _beside(found, BAAL, "few.baal", what, goal=100),
        near_limit(found, OURS, key="few.limit", what=f"{what}: near the limit", goal=1.5),
    ]
    fresh = replace(_new(ours(bench, "mc_dropout", n=bench.sizes.round_n)), repeats=bench.sizes.repeats)
    again = contest(bench, [fresh])
    return Finding([*lines, _round(again, fresh)], {**found.facts(), "new model": again.facts()})


def _round(found: Contest, fresh: Entry) -> Line:
    timing, what = found.timings[NEW], f"MC dropout, {_size(fresh)}: a new model of a known network"
    goal = {"goal": 0.15, "sense": "at most", "unit": " s"}
    if timing.error is not None:
        return failed("few.new", what, timing.error, **goal)
    return Line("few.new", what, f"{timing.median:.3g} s", **of_spread(spread(timing.seconds)), **goal)


def encoder(bench: Bench) -> Finding:
    """A transformer with dropout in all layers: only its words are embedded once."""
    sizes = bench.sizes
    options = {"file": bench.sentences(), "n": sizes.sentences, "draws": sizes.encoder_draws}
    work = encoder_passes(sizes.encoder_draws) * sizes.sentences
    plain = Entry(PLAIN, "plain", "encoder", options, work, sizes.sentences, warm={"n": 4, "draws": 2})
    own = Entry(
        OURS, "askwise", "score", {**options, "posterior": "encoder"}, work, sizes.sentences, warm={"n": 4}
    )
    found = contest(bench, [own, plain])
    what = f"transformer of MiniLM's size, dropout in all layers, {_size(own)}"
    return Finding([_beside(found, PLAIN, "encoder.plain", what)], found.facts())


def bnn1(bench: Bench) -> Finding:
    """A Bayesian last layer, and what ten times the draws cost."""
    own = ours(bench, "bnn1")
    many = ours(bench, "bnn1", draws=bench.sizes.many_draws, label=MANY)
    rivals = [
        _rival(bench, PLAIN, "plain", "bnn1"),
        _rival(bench, INTEL, "bayesian_torch", "bnn1"),
        _rival(bench, BLITZ, "blitz", "bnn1"),
    ]
    found = contest(bench, [own, many, _new(own), *rivals])
    what = f"BNN-1, Gal's CNN, {_size(own)}"
    more = replace(
        faster(found, OURS, MANY, key="bnn1.many", what=f"{what}: T = {many.options['draws']:,}", goal=1.25),
        sense="at most",
    )
    lines = [
        _beside(found, PLAIN, "bnn1.plain", what, goal=80),
        _beside(found, INTEL, "bnn1.bayesian_torch", what, goal=100),
        _beside(found, BLITZ, "bnn1.blitz", what),
        more,
        near_limit(found, OURS, key="bnn1.limit", what=f"{what}: near the limit", goal=2),
        _beside(found, NEW, "bnn1.new", what),
    ]
    return Finding(lines, found.facts())


def all_bayesian(bench: Bench) -> Finding:
    """Every layer Bayesian: whole passes for everybody, so askwise too gets fewer items."""
    return _whole(bench, "all_bayesian", "all-Bayesian CNN", [(PLAIN, "plain"), (INTEL, "bayesian_torch")])


def early_dropout(bench: Bench) -> Finding:
    """Dropout behind the first convolution: the second runs for every draw."""
    return _whole(bench, "early_dropout", "dropout after the first convolution", [(PLAIN, "plain")])


def _whole(bench: Bench, posterior: str, name: str, rivals: list[tuple[str, str]]) -> Finding:
    """A network whose convolutions run for every draw, at each size."""
    lines, facts = [], {}
    for n in bench.sizes.all_n:
        own = ours(bench, posterior, n=n, repeats=1)
        entries = [_rival(bench, label, who, posterior, scaled_to=n) for label, who in rivals]
        found = contest(bench, [own, *entries])
        lines += [
            _beside(found, label, f"{posterior}.{n}.{who}", f"{name}, {_size(own)}", goal=2)
            for label, who in rivals
        ]
        facts[str(n)] = found.facts()
    return Finding(lines, facts)


def ours(
    bench: Bench,
    posterior: str,
    *,
    n: int | None = None,
    draws: int | None = None,
    label: str = OURS,
    repeats: int | None = None,
) -> Entry:
    """Askwise on a pool, of the usual size and under the usual number of draws unless told otherwise."""
    n, draws = n or bench.sizes.n, draws or bench.sizes.draws
    options = {"posterior": posterior, "file": bench.images(), "n": n, "draws": draws}
    work = _WORK[posterior](draws) * n
    warm = {"n": min(n, 256)}
    repeats = repeats or bench.sizes.repeats
    return Entry(label, "askwise", "score", options, work, n, repeats=repeats, warm=warm)


def _new(own: Entry) -> Entry:
    """The same with a model that has not predicted yet, as after every training."""
    return replace(own, label=NEW, options={**own.options, "new_model": True}, repeats=1)


def _rival(bench: Bench, label: str, contestant: str, task: str, *, scaled_to: int | None = None) -> Entry:
    """T whole passes over fewer items."""
    sizes, full = bench.sizes, scaled_to or bench.sizes.n
    n = min(sizes.peer_n, full)
    options = {"file": bench.images(), "n": n, "draws": sizes.draws}
    work = whole_passes(sizes.draws) * full
    return Entry(label, contestant, task, options, work, full, warm={"n": min(_FEW, n), "draws": 2})


def _beside(found: Contest, theirs: str, key: str, what: str, *, goal: float | None = None) -> Line:
    return faster(found, OURS, theirs, key=key, what=f"{what}: {theirs}", goal=goal)


def _memory(found: dict[str, float], what: str) -> Line:
    before, peak = found["before_mb"], found["peak_mb"]
    return Line(
        "mc_dropout.memory",
        f"{what}: memory beyond the data",
        f"process tree {before:.0f} MB with data and model, {peak:.0f} MB at the peak of its first call",
        value=found["beyond_mb"],
        goal=400,
        sense="at most",
        unit=" MB",
    )


def _size(own: Entry) -> str:
    return f"N = {own.options['n']:,}, T = {own.options['draws']:,}"
