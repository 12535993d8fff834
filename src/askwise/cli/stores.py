"""From what a person names, a store or a plan, to the stores on the disk."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from askwise.errors import AskwiseError, InputError, command
from askwise.loop.plan import Plan
from askwise.pool import Pool
from askwise.project import PLAN, STORE, Project, is_project, open_project
from askwise.runs.material import material, read_plan
from askwise.store import Place, Store, open_store, place

REPORT = "report.html"
_SEED = "{seed}"


def store_path(path: Path, plan: Plan, *, seed: int | None = None) -> Place:
    """Where the run of a plan is kept: as the plan says, or beside it; one store for each seed."""
    whole = place(plan.store) if plan.store else _beside(path)
    if isinstance(whole, Path):
        return whole if seed is None else whole.with_name(f"{whole.stem}-seed{seed}{whole.suffix}")
    if seed is not None and _SEED not in whole:
        raise InputError(f"one store cannot keep several runs; write {_SEED} into the address of {path.name}")
    return whole.replace(_SEED, str(plan.seed if seed is None else seed))


def plan_path(path: Path) -> Path:
    """The plan that is meant: a file, or that of the project in a folder.

    A name that is neither, and does not end as a plan does, was meant to be a project.
    """
    meant = path.is_dir() or (not path.exists() and path.suffix != ".toml")
    return open_project(path).plan if meant else path


def paths(named: Sequence[Place]) -> list[Place]:
    """Every store that is meant: stores themselves, those of a plan or project, those in a folder."""
    found: list[Place] = []
    for path in map(place, named):
        if not isinstance(path, Path):
            found.append(path)
        elif path.suffix == ".toml" or is_project(path):
            found += _of_plan(plan_path(path))
        elif path.is_dir():
            inside = sorted(path.glob("*.db"))
            if not inside:
                raise InputError(f"folder {path} holds no stores (*.db)")
            found += inside
        elif not path.exists() and path.suffix != Path(STORE).suffix:
            open_project(path)  # which refuses: there is none, and another may be meant
        else:
            found.append(path)
    return found


@contextmanager
def opened(named: Sequence[Place]) -> Iterator[list[Store]]:
    """The stores that are meant, open for reading."""
    with ExitStack() as stack:
        stores = []
        for path in paths(named):
            store = open_store(path, access="read")
            stack.callback(store.close)
            stores.append(store)
        yield stores


@contextmanager
def opened_project(name: Path) -> Iterator[tuple[Project, Plan, Store]]:
    """A project, its plan, and its store open for reading."""
    project = open_project(name)
    plan = read_plan(project.plan)
    store = open_store(store_path(project.plan, plan), access="read")
    try:
        yield project, plan, store
    finally:
        store.close()


def project_of(store: Place) -> Path | None:
    """The project that a store belongs to, as a person here types it; none where it is that of a plan."""
    if not isinstance(store, Path) or store.name != STORE or not is_project(store.parent):
        return None
    folder, here = store.parent.resolve(), Path.cwd()
    return folder.relative_to(here) if here in folder.parents else store.parent


def page_of(stores: Sequence[Store]) -> Path:
    """Where the report of runs is written: of one with its own things, so that no other run replaces it."""
    own = place(stores[0].name)
    if len(stores) > 1 or not isinstance(own, Path):
        return Path(REPORT)
    project = project_of(own)
    return own.with_suffix(".html") if project is None else Project(project).exports / REPORT


def run_of(store: Place) -> list[str]:
    """What `askwise run` takes to go on with the run of a store: its project or plan, and a seed of several.

    The word PLAN where the store does not lie beside either.
    """
    if isinstance(store, Path):
        stem, _, seed = store.stem.partition("-seed")
        for alone, many in ((store, []), (store.with_stem(stem), ["--seeds", seed])):
            if (project := project_of(alone)) is not None:
                return [str(project), *many]
            if (plan := alone.with_suffix(".toml")).is_file():
                return [str(plan), *many]
    return ["PLAN"]


def items(plan: Plan, data: Path | None) -> tuple[Pool | None, str]:
    """The items of a run, or why they cannot be shown."""
    if plan.data is None:
        return None, "the run does not say where its items are"
    try:
        return material(plan, data_dir=data).pool, ""
    except AskwiseError as error:
        return None, str(error)


def _beside(path: Path) -> Path:
    """The store of a plan; that of a project has a name of its own."""
    own = path.with_name(STORE)
    return own if path.name == PLAN and own.exists() else path.with_suffix(".db")


def _of_plan(path: Path) -> list[Place]:
    single = store_path(path, read_plan(path))
    if not isinstance(single, Path):
        return [single]
    found: list[Place]
    found = [
        *sorted(single.parent.glob(f"{single.stem}-seed*{single.suffix}"), key=lambda p: (len(p.name), p))
    ]
    if not found and single.exists():
        return [single]
    if not found:
        raise InputError(
            f"plan {path} has no run yet ({single} is not there); start one: {command('run', path)}"
        )
    return found
