"""What a run intends: every choice in one frozen record."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError, model_validator

from askwise.errors import InputError, choose
from askwise.loop import plan_fields as written
from askwise.loop import plan_rules as rules
from askwise.loop.plan_fields import Initial, Part, Record
from askwise.seeding import derive
from askwise.store import place, shown
from askwise.store.facts import Planned
from askwise.tasks import named

_FEWEST = 2  # classes that can be told apart


class Plan(Record):
    """Every choice of a run; the descriptions are what `askwise plan check` prints."""

    task: written.TaskField = Field(
        {"name": "classification"},
        description="what a label is: classification, multilabel, regression, segmentation; with its options",
    )
    classes: written.Names = Field(
        (),
        description="names of the classes, in the order of their numbers; of pixels for segmentation; "
        "[] where people name them on the page",
    )
    tags: written.Names = Field((), description="names of the tags, for multilabel")
    numbers: written.Names = Field((), description="names of the numbers, for regression; one by default")
    posterior: written.PosteriorField = Field(
        {"name": "bbb", "last": 1}, description="where the network's uncertainty comes from"
    )
    acquire: written.Acquire = Field("bald", description="the score of an item")
    acquire_options: dict[str, Any] = Field({}, description="parameters of the score")
    select: written.Select = Field("top_k", description="how scores become the items asked together")
    select_options: dict[str, Any] = Field({}, description="parameters of the selection")
    batch: int = Field(10, ge=1, description="questions asked together")
    budget: int = Field(100, ge=1, description="labels in all, the initial ones included")
    initial: Annotated[Initial, written.INITIAL] = Field(
        Initial(),
        description="a number, ids, or per class: labelled first and trained on from the first round; counts "
        "against the budget",
    )
    initial_select: written.FirstSelect = Field(
        None,
        description="how the initial items are selected, before there is a model: typiclust, k_center; "
        "without it at random, or by select where that needs no model",
    )
    validation: Annotated[Part, written.PART] = Field(
        Part(),
        description="a number, ids or a file of labels: measured every round, to choose and to calibrate by; "
        "never asked, never trained on",
    )
    test: Annotated[Part, written.PART] = Field(
        Part(),
        description="a number, ids or a file of labels: measured every round, to report; never asked, never "
        "trained on, nothing is chosen by it",
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
    training: written.TrainingField = Field(
        {},
        description="epochs, batch_size, lr, ...; converged=0.01 ends it when the loss hardly falls any more",
    )
    calibrate: bool | None = Field(
        None,
        description="temper each model on the validation data, or else on the test answers, where a "
        "temperature changes no class (Guo et al. 2017); by default if there are any",
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
    engine: written.EngineField = Field(
        "local", description="where scores are computed: local (all cores), or ray (a cluster)"
    )
    engine_options: dict[str, Any] = Field({}, description="of the engine: processes, threads, address, ...")
    network: written.Network = Field(
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
        """How many answers a question about an item wants; the hash of its id decides."""
        drawn = derive(self.seed, "overlap", identity) / 2**56
        return self.needed + (drawn < self.overlap)

    @property
    def names(self) -> tuple[str, ...]:
        """What a label is made of: the names of the classes, tags or numbers."""
        return self.classes or self.tags or self.numbers

    @property
    def made_of(self) -> Literal["classes", "tags", "numbers"]:
        """What the names are: `classes`, `tags` or `numbers`."""
        return named(self.task).made_of

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

    @model_validator(mode="before")
    @classmethod
    def _known(cls, values: Any) -> Any:
        for key in values:
            if key not in cls.model_fields and key in rules.DATA_OPTIONS:
                raise InputError(f"{key} says how data are read; write data_options = {{{key} = ...}}")
            choose("key in the plan", key, cls.model_fields)
        if values.get("task") is not None and named(values["task"]).name == "regression":
            defaults = {"numbers": ("value",), "acquire": "gaussian_bald"}
            values = defaults | {key: value for key, value in values.items() if value not in ((), [])}
        return values

    @model_validator(mode="after")
    def _consistent(self) -> "Plan":
        for check in rules.CHECKS:
            check(self)
        return self


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
