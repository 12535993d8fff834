"""With which encoder a project works now: a fast one first, its own once that has been through all items."""

from askwise import encoders
from askwise.loop.featured import feature_folder
from askwise.loop.plan import Plan
from askwise.pool import encoding_order, features
from askwise.project import Project
from askwise.runs.material import material, read_plan
from askwise.store import open_store
from askwise.store.contract import Store
from askwise.store.facts import Encoded
from askwise.store.ledger import Ledger

_LOOKED = 1_000  # items looked for at a time


def working_plan(project: Project) -> Plan:
    """The plan by which a project is worked on now: that of its file, at first with a faster encoder.

    The fast one serves until a model stands on the features of the plan's own encoder, or all of these are
    there: both follow from what is on the disk, so that every process says the same. Each round notes
    whose features it has seen.
    """
    plan = read_plan(project.plan)
    quick = None if plan.encoder is None or plan.thaw else encoders.first_pass(plan.encoder)
    if quick is None:
        return plan
    store = open_store(project.place, access="read")
    try:
        own = _settled(plan, store) or _encoded(plan, project, store)
    finally:
        store.close()
    return plan if own else plan.model_copy(update={"encoder": quick})


def passes(project: Project) -> list[Plan]:
    """The plans whose encoders have to go through the items, one after the other."""
    now, own = working_plan(project), read_plan(project.plan)
    return [own] if now.encoder == own.encoder else [now, own]


def _settled(plan: Plan, store: Store) -> bool:
    """Whether a model was trained on features of the plan's own encoder."""
    noted = store.last(Encoded)
    return noted is not None and noted.round > 0 and noted.encoder == plan.encoder


def _encoded(plan: Plan, project: Project, store: Store) -> bool:
    """Whether every item that can be read has features of the plan's own encoder."""
    folder = feature_folder(store)
    if folder is None or next(folder.glob("*.rows"), None) is None:
        return False  # at the very beginning: no need to look at a single item
    known = material(plan, folder=project.folder)
    if known.encoder is None:
        return True
    pool = features(known.pool, known.encoder.module, cache=folder)
    bad = {*pool.quarantined, *Ledger(store).quarantined}
    wanted = [name for name in encoding_order(list(pool.ids), seed=plan.seed) if name not in bad]
    parts = (wanted[start : start + _LOOKED] for start in range(0, len(wanted), _LOOKED))
    return all(bool(pool.kept(some).all()) for some in parts)  # no further than the first gap
