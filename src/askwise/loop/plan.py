"""What a run intends: every choice in one frozen record."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)

from askwise.acquire import ACQUISITIONS, Acquisition, as_acquisition
from askwise.bayes.fit import as_device
from askwise.bayes.posteriors import as_posterior
from askwise.engine import ENGINES, Engine, open_engine
from askwise.errors import InputError, check_options, choose, serves
from askwise.nets import NETWORKS
from askwise.references import imported, is_reference, reference_to
from askwise.seeding import derive
from askwise.selection import SELECTIONS
from askwise.store import place, shown
from askwise.store.classes import names
from askwise.store.facts import Planned
from askwise.tasks import TASKS, Task, named
from askwise.train import as_training

_MADE_OF = {
    "classification": "classes",
    "multilabel": "tags",
    "regression": "numbers",
    "segmentation": "classes",
}
_FEWEST = 2  # classes that can be told apart


def _set(task: Task) -> dict[str, Any]:
    """The options of a task that are not its defaults."""
    usual = TASKS[choose("task", task.name, TASKS)]().options
    return {name: value for name, value in task.options.items() if value != usual[name]}


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Part(_Record):
    """Labelled data or ids with a purpose: how many, and which ones (by hash)."""

    count: int = Field(default=0, ge=0)
    ids: tuple[str, ...] = ()
    file: str | None = None
    """A file of items and labels, for plans in files."""
    sha256: str | None = None


class Initial(Part):
    """Items labelled first: a number, ids, or a number per class where labels are known in advance."""

    per_class: int | None = Field(default=None, ge=1)


class Plan(_Record):
    """Every choice of a run; the descriptions are what `askwise plan check` prints."""

    task: dict[str, Any] = Field(
        {"name": "classification"},
        description="what a label is: classification, multilabel, regression, segmentation; with its options",
    )
    classes: tuple[str, ...] = Field(
        (),
        description="names of the classes, in the order of their numbers; of pixels for segmentation; "
        "[] where people name them on the page",
    )
    tags: tuple[str, ...] = Field((), description="names of the tags, for multilabel")
    numbers: tuple[str, ...] = Field((), description="names of the numbers, for regression; one by default")
    posterior: dict[str, Any] = Field(
        {"name": "bbb", "last": 1}, description="where the network's uncertainty comes from"
    )
    acquire: str = Field("bald", description="the score of an item")
    acquire_options: dict[str, Any] = Field({}, description="parameters of the score")
    select: str = Field("top_k", description="how scores become the items asked together")
    select_options: dict[str, Any] = Field({}, description="parameters of the selection")
    batch: int = Field(10, ge=1, description="questions asked together")
    budget: int = Field(100, ge=1, description="labels in all, the initial ones included")
    initial: Initial = Field(
        Initial(),
        description="labelled first and trained on from the first round; counts against the budget",
    )
    initial_select: str | None = Field(
        None,
        description="how the initial items are selected, before there is a model: typiclust, k_center; "
        "without it at random, or by select where that needs no model",
    )
    validation: Part = Field(
        Part(),
        description="measured every round, to choose and to calibrate by; never asked, never trained on",
    )
    test: Part = Field(
        Part(),
        description="measured every round, to report; never asked, never trained on, nothing is chosen by it",
    )
    testing: float = Field(
        0.0,
        ge=0,
        le=0.5,
        description="share of the questions that test the model, never trained on; off with a test set",
    )
    region: float = Field(
        0.3, gt=0, lt=1, description="share of the pool, drawn at random, that test questions come from"
    )
    group: str | None = Field(
        None, description="column that names groups (patient, slide): the region is whole groups of it"
    )
    until: float | None = Field(
        None, gt=0, lt=1, description="stop when the accuracy's lower limit reaches this; needs testing"
    )
    stable: float | None = Field(
        None,
        gt=0,
        lt=1,
        description="stop when less of the region than this changes its class, three trainings in a row",
    )
    gain: float | None = Field(
        None,
        gt=0,
        lt=1,
        description="stop when the next 50 labels should gain less accuracy than this, by a forecast that "
        "is often wrong",
    )
    start: Literal["scratch", "given", "warm"] = Field(
        "scratch",
        description="each round starts from new weights, from the network as given, or from the last round's",
    )
    training: dict[str, Any] = Field(
        {},
        description="epochs, batch, lr, ...; converged=0.01 ends it when the loss hardly falls any more",
    )
    calibrate: bool | None = Field(
        None,
        description="temper each model on the validation data (Guo et al. 2017); by default if there are any",
    )
    draws: int = Field(100, ge=1, description="networks drawn from the posterior for each score")
    draw: Literal["weights", "logits"] = Field(
        "weights",
        description="draw whole networks; or the logits of a Gaussian last layer, faster if it is wide",
    )
    pool_subset: int | None = Field(
        None, ge=1, description="score only this many items, drawn anew each time"
    )
    shortlist: int = Field(10_000, ge=1, description="items that a joint selection looks at together")
    targets: int = Field(500, ge=1, description="items that epig wants to know about")
    retrain_after: int | None = Field(
        None, ge=1, description="answers after which to train while others are open"
    )
    refill_at: int = Field(0, ge=0, description="ask again when at most this many questions are open")
    keep: int = Field(2, ge=1, description="older checkpoints kept beside the newest")
    needed: int = Field(1, ge=1, description="answers that a question wants, each of another annotator")
    overlap: float = Field(
        0.0, ge=0, le=1, description="share of the questions that want one more answer, of another annotator"
    )
    policy: Literal["latest", "majority", "resolver"] = Field(
        "latest",
        description="whose answer becomes the label: the last one, that of most, or only a resolver's word",
    )
    seed: int = Field(0, description="decides everything that chance decides")
    device: str = Field("auto", description="where the network runs")
    engine: str = Field(
        "local", description="where scores are computed: local (all cores), or ray (a cluster)"
    )
    engine_options: dict[str, Any] = Field({}, description="of the engine: processes, threads, address, ...")
    network: str | None = Field(
        None, description="a network by name, or one's own as module:function; for plans in files"
    )
    network_options: dict[str, Any] = Field(
        {}, description="options of a network by name: hidden, width, dropout, ..."
    )
    data: str | None = Field(
        None, description="a data set by name, a folder of pictures or texts, a table; for plans in files"
    )
    data_options: dict[str, Any] = Field(
        {}, description="how items are read: size, channels, column, id_column, ..."
    )
    encoder: str | None = Field(
        None, description="a frozen encoder by name, folder or module:attribute; the network is its head"
    )
    thaw: int = Field(
        0, ge=0, description="epochs for which the encoder learns in every round before it is frozen"
    )
    labels: str | None = Field(
        None, description='labels known of the data: a file of them, or "folders" for one folder per class'
    )
    store: str | None = Field(None, description="the file that keeps the run, for plans in files")

    @property
    def kept(self) -> float:
        """The share of the pool that is kept for testing; 0 where there is a test set."""
        return self.region if self.testing and not self.test.count else 0.0

    def draw_seed(self, round_number: int) -> int:
        """The seed of the draws that the model of a round predicts and scores with."""
        return derive(self.seed, "draw", round_number)

    def wanted(self, identity: str) -> int:
        """How many answers a question about an item wants; chance decides by the item, so it stays so."""
        drawn = derive(self.seed, "overlap", identity) / 2**56
        return self.needed + (drawn < self.overlap)

    @property
    def names(self) -> tuple[str, ...]:
        """What a label is made of: the names of the classes, tags or numbers."""
        return self.classes or self.tags or self.numbers

    @property
    def unnamed(self) -> bool:
        """Whether classes are still to be named, as people meet them: with fewer than two nothing learns."""
        return self.kind == "classification" and len(self.classes) < _FEWEST

    @property
    def outputs(self) -> int:
        """How many outputs labels need; classes that are still to be named have room for two."""
        return max(len(self.names), _FEWEST) if self.kind == "classification" else len(self.names)

    @property
    def kind(self) -> str:
        """The name of the task."""
        return str(self.task["name"])

    @field_validator("task", mode="before")
    @classmethod
    def _task(cls, value: Any) -> Any:
        task = named(value)
        return dict(value) if isinstance(value, Mapping) else {"name": task.name, **_set(task)}

    @field_validator("classes", "tags", "numbers", mode="before")
    @classmethod
    def _names(cls, value: Any, field: Any) -> Any:
        """The names as text; none at all means that the field is left out."""
        given = value if isinstance(value, int | str) else tuple(value)
        return () if given == () else names(given, kind=field.field_name, least=1)

    @field_validator("posterior", mode="before")
    @classmethod
    def _posterior(cls, value: Any) -> Any:
        posterior = as_posterior(value)
        return dict(value) if isinstance(value, Mapping) else {"name": posterior.name, **posterior.options()}

    @field_validator("training", mode="before")
    @classmethod
    def _training(cls, value: Any) -> Any:
        options = as_training(value).options()
        return dict(value) if isinstance(value, Mapping) else options

    @field_validator("acquire", mode="before")
    @classmethod
    def _acquisition(cls, value: Any) -> Any:
        if callable(value):
            return reference_to(value)
        if isinstance(value, str) and is_reference(value):
            return value
        return choose("acquisition", value, ACQUISITIONS)

    @field_validator("engine", mode="before")
    @classmethod
    def _engine(cls, value: Any) -> Any:
        return choose("engine", value.name if isinstance(value, Engine) else value, ENGINES)

    @field_validator("network")
    @classmethod
    def _network(cls, value: str | None) -> str | None:
        return value if value is None or is_reference(value) else choose("network", value, NETWORKS)

    @field_validator("select")
    @classmethod
    def _selection(cls, value: str) -> str:
        return choose("selection", value, SELECTIONS)

    @field_validator("initial_select")
    @classmethod
    def _first(cls, value: str | None) -> str | None:
        cold = [name for name, known in SELECTIONS.items() if known.cold_start]
        return None if value is None else choose("selection without a model", value, cold)

    @field_validator("initial", "validation", "test", mode="before")
    @classmethod
    def _counted(cls, value: Any) -> Any:
        written = value.model_dump() if isinstance(value, Part) else value
        return {"count": written} if isinstance(written, int) else written

    @model_validator(mode="after")
    def _served(self) -> "Plan":
        """One word for what a label is made of, and only what serves the task."""
        wanted = _MADE_OF[self.kind]
        for word in ("classes", "tags", "numbers"):
            if getattr(self, word) and word != wanted:
                raise InputError(f"{self.kind} takes {wanted}, not {word}; rename them in the plan")
        if self.kind == "segmentation" and self.classes:
            names(self.classes)
        later = self.kind == "classification" and "classes" in self.model_fields_set
        if not self.names and not later:
            raise InputError(f"name the {wanted}: {wanted} = [...] in the plan, or {wanted}=[...]")
        if not is_reference(self.acquire):
            serves("acquisition", self.acquire, self.kind, ACQUISITIONS[self.acquire], ACQUISITIONS)
        for name in filter(None, (self.select, self.initial_select)):
            serves("selection", name, self.kind, SELECTIONS[name], SELECTIONS)
        if self.thaw and self.encoder is None:
            raise InputError("thaw lets an encoder learn, and the plan names none; add encoder = ...")
        if self.kind == "regression" and self.calibrate:
            raise InputError("calibrate tempers probabilities, and regression has none; leave it out")
        if self.kind != "classification" and self.initial.per_class is not None:
            raise InputError(f"initial per class needs one class per item, and the task is {self.kind}")
        return self

    @model_validator(mode="after")
    def _options(self) -> "Plan":
        if not is_reference(self.acquire):
            function, given = ACQUISITIONS[self.acquire].function, ["seed", "targets"]
            check_options(f"acquisition {self.acquire!r}", function, self.acquire_options, given=given)
        function, given = SELECTIONS[self.select].function, ["count", "seed", "ids", "labelled"]
        check_options(f"selection {self.select!r}", function, self.select_options, given=given)
        return self

    @model_validator(mode="after")
    def _affordable(self) -> "Plan":
        per_class, classes = self.initial.per_class, len(self.classes)
        if per_class is None or self.initial.ids:
            return self
        if self.initial.count:
            raise InputError("initial in the plan: give a number or per_class, not both")
        if per_class * classes > self.budget:
            raise InputError(
                f"initial in the plan: {per_class} of each of {classes} classes are {per_class * classes} "
                f"labels, more than the budget of {self.budget}; lower per_class, or raise the budget"
            )
        return self

    @model_validator(mode="after")
    def _tested(self) -> "Plan":
        for rule in ("until", "stable", "gain"):
            if getattr(self, rule) is not None and not self.testing:
                raise InputError(f"{rule} in the plan needs test questions; add testing = 0.2")
            if getattr(self, rule) is not None and self.kind != "classification":
                raise InputError(f"{rule} in the plan needs one class per item, and the task is {self.kind}")
        return self

    @model_validator(mode="before")
    @classmethod
    def _known(cls, values: Any) -> Any:
        for key in values:
            choose("key in the plan", key, cls.model_fields)
        if values.get("task") is not None and named(values["task"]).name == "regression":
            defaults = {"numbers": ("value",), "acquire": "gaussian_bald"}
            values = defaults | {key: value for key, value in values.items() if value not in ((), [])}
        return values


def planned(plan: Plan) -> Planned:
    """The plan as a fact: the address of its store without the password."""
    noted = plan.model_dump(mode="json")
    if plan.store is not None:
        noted["store"] = shown(place(plan.store))
    return Planned(plan=noted)


def make(values: Mapping[str, Any]) -> Plan:
    """The plan with these values; what does not fit is refused in one line."""
    try:
        return Plan(**values)
    except ValidationError as error:
        first = error.errors()[0]
        cause = first.get("ctx", {}).get("error")
        if isinstance(cause, InputError):
            raise cause from None
        where = ".".join(map(str, first["loc"])) or "plan"
        found = "" if first["type"] == "missing" else f", not {first['input']!r}"
        message = first["msg"][0].lower() + first["msg"][1:]
        raise InputError(f"{where} in the plan: {message}{found}") from None


def ready(plan: Plan) -> None:
    """Refuse a device or an engine that this machine does not have."""
    as_device(plan.device)
    open_engine(plan.engine, **plan.engine_options)


def one_class(plan: Plan, what: str) -> None:
    """Refuse what only labels of one class per item can have."""
    if plan.kind != "classification":
        raise InputError(f"{what} needs one class per item, and the task is {plan.kind}")


def refuse_unnamed(plan: Plan, *, where: str) -> None:
    """Refuse to run a plan whose classes people have not named yet."""
    if plan.unnamed:
        found = ", ".join(plan.classes) or "none"
        raise InputError(
            f"{where} needs at least two classes, and has {found}; name them on the page (askwise label), "
            'or in plan.toml: classes = ["cat", "dog"]'
        )


def acquisition(plan: Plan, *, folder: Path | None = None) -> Acquisition:
    """The acquisition that a plan names; one's own is imported, from the plan's folder first."""
    if not is_reference(plan.acquire):
        return ACQUISITIONS[plan.acquire]
    own = imported(plan.acquire, what="acquisition", folder=folder)
    if not callable(own):
        raise InputError(f"acquisition {plan.acquire!r} is a {type(own).__name__}, not a function")
    return as_acquisition(own)[1]
