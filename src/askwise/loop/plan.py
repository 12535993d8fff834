"""What a run intends: every choice in one frozen record, read from arguments or from a TOML file."""

import tomllib
from collections.abc import Iterable, Mapping
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

from askwise.acquire import ACQUISITIONS
from askwise.errors import InputError, choose
from askwise.selection import SELECTIONS
from askwise.store.classes import names

USES = {
    "initial": "labelled first and trained on from the first round; counts against the budget",
    "validation": "measured every round, to choose and to recalibrate by; never asked, never trained on",
    "test": "measured every round, to report; never asked, never trained on, nothing is chosen by it",
}


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Part(_Record):
    """Labelled data or ids with a purpose: how many, which ones (by hash), and what they are used for."""

    count: int = Field(default=0, ge=0)
    ids: tuple[str, ...] = ()
    sha256: str | None = None
    use: str = ""


class Initial(Part):
    """Items labelled first: a number, ids, or so many of each class where labels are known in advance."""

    per_class: int | None = Field(default=None, ge=1)


class Plan(_Record):
    """Every choice of a run; the descriptions are what `askwise plan check` prints."""

    classes: tuple[str, ...] = Field(description="names of the classes, in the order of their numbers")
    posterior: dict[str, Any] = Field(
        {"name": "bbb", "last": 1}, description="where the network's doubt comes from"
    )
    acquire: str = Field("bald", description="the score of an item")
    acquire_options: dict[str, Any] = Field({}, description="parameters of the score")
    select: str = Field("top_k", description="how scores become the items asked together")
    select_options: dict[str, Any] = Field({}, description="parameters of the selection")
    batch: int = Field(10, ge=1, description="questions asked together")
    budget: int = Field(100, ge=1, description="labels in all, the initial ones included")
    initial: Initial = Field(Initial(use=USES["initial"]), description=USES["initial"])
    validation: Part = Field(Part(use=USES["validation"]), description=USES["validation"])
    test: Part = Field(Part(use=USES["test"]), description=USES["test"])
    train: Literal["scratch", "given", "warm"] = Field(
        "scratch",
        description="each round starts from new weights, from the network as given, or from the last round's",
    )
    training: dict[str, Any] = Field(
        {},
        description="epochs, batch, lr, ...; converged=0.01 ends it when the loss hardly falls any more",
    )
    recalibrate: bool | None = Field(
        None,
        description="temper each model on the validation data (Guo et al. 2017); by default if there are any",
    )
    draws: int = Field(100, ge=1, description="networks drawn from the posterior for each score")
    draw: Literal["weights", "logits"] = Field(
        "weights",
        description="draw whole networks; or the logits of a Gaussian last layer, faster if it is wide",
    )
    pool_subset: int | None = Field(None, ge=1, description="score only so many items, drawn anew each time")
    shortlist: int = Field(10_000, ge=1, description="items that a joint selection looks at together")
    targets: int = Field(500, ge=1, description="items that epig wants to know about")
    retrain_after: int | None = Field(
        None, ge=1, description="answers after which to train while others are open"
    )
    refill_at: int = Field(0, ge=0, description="ask anew when no more than so many questions are open")
    keep: int = Field(2, ge=1, description="older checkpoints kept beside the newest")
    seed: int = Field(0, description="decides everything that chance decides")
    device: str = Field("auto", description="where the network runs")
    engine: str = Field(
        "local", description="where scores are computed: local (all cores), or ray (a cluster)"
    )
    engine_options: dict[str, Any] = Field({}, description="of the engine: processes, threads, address, ...")
    network: str | None = Field(None, description="a network by name, for plans in files")
    data: str | None = Field(None, description="a data set by name or folder, for plans in files")
    store: str | None = Field(None, description="the file that keeps the run, for plans in files")

    def choices(self) -> dict[str, Any]:
        """What a Learner takes as it is: all but the classes, the labelled data and the names of things."""
        apart = {"classes", "network", "data", "store", *USES}
        return self.model_dump(exclude=apart)

    @field_validator("classes", mode="before")
    @classmethod
    def _named(cls, value: Any) -> Any:
        return names(value)

    @field_validator("acquire")
    @classmethod
    def _acquisition(cls, value: str) -> str:
        return choose(
            "acquisition", value, [n for n, known in ACQUISITIONS.items() if known.needs != "moments"]
        )

    @field_validator("select")
    @classmethod
    def _selection(cls, value: str) -> str:
        return choose("selection", value, SELECTIONS)

    @field_validator("initial", "validation", "test", mode="before")
    @classmethod
    def _with_use(cls, value: Any, info: Any) -> Any:
        written = value.model_dump() if isinstance(value, Part) else value
        written = {"count": written} if isinstance(written, int) else written
        return {**written, "use": USES[str(info.field_name)]} if isinstance(written, Mapping) else written

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

    @model_validator(mode="before")
    @classmethod
    def _known(cls, values: Any) -> Any:
        for key in values:
            choose("key in the plan", key, cls.model_fields)
        return values


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


def read(path: str | Path, *, overrides: Iterable[str] = ()) -> Plan:
    """The plan in a TOML file, after overrides such as `batch=5` or `training.epochs=10`."""
    try:
        values = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"there is no plan {str(path)!r}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise InputError(f"plan {str(path)!r} cannot be read: {error}") from None
    return make(override(values, overrides))


def override(values: Mapping[str, Any], settings: Iterable[str]) -> dict[str, Any]:
    """The values with `key=value` settings laid over; a dot leads into a table."""
    changed = dict(values)
    for setting in settings:
        key, equals, text = setting.partition("=")
        if not equals or not key.strip():
            raise InputError(f"a setting is written key=value, not {setting!r}")
        *tables, last = key.strip().split(".")
        place = changed
        for table in tables:
            inner = place.get(table, {})
            if not isinstance(inner, Mapping):
                raise InputError(f"{table!r} is a value, not a table, so {key!r} cannot be set")
            place[table] = dict(inner)
            place = place[table]
        place[last] = _value(text.strip())
    return changed


def _value(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text  # a bare word is a word: --set acquire=bald
