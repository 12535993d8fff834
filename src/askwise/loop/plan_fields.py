"""How the fields of a plan may be written: a name, a record or a table; each is kept as plain values."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, TypeAlias

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from askwise.acquire import ACQUISITIONS
from askwise.bayes.posteriors import as_posterior
from askwise.engine import ENGINES, Engine
from askwise.errors import InputError, choose
from askwise.nets import NETWORKS
from askwise.references import is_reference, reference_to
from askwise.selection import SELECTIONS
from askwise.store.classes import names
from askwise.tasks import TASKS, named
from askwise.train import as_training

MEASURED = ("validation", "test")
"""Labelled data of a plan that every model is measured on."""


class Record(BaseModel):
    """A frozen record that refuses unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        """The fields that differ from their defaults."""
        for name, value in super().__repr_args__():
            field = type(self).model_fields.get(name or "")
            if field is None or value != field.get_default(call_default_factory=True):
                yield name, value


class Part(Record):
    """Labelled data or ids with a purpose: how many, and which ones (by hash)."""

    count: int = Field(default=0, ge=0)
    ids: tuple[str, ...] = ()
    file: str | None = None
    """A file of items and labels, for plans in files."""
    sha256: str | None = None


class Initial(Part):
    """Items labelled first: a number, ids, or a number per class where labels are known in advance."""

    per_class: int | None = Field(default=None, ge=1)


def _part(value: Any) -> Any:
    """A number, ids, or a file of labels, as the table that it stands for."""
    if isinstance(value, int) and not isinstance(value, bool):
        return {"count": value}
    if isinstance(value, str):
        return {"file": value}
    if isinstance(value, list | tuple):
        return {"ids": [str(one) for one in value]}
    if isinstance(value, Part):
        return value.model_dump()
    if isinstance(value, Mapping):
        return value
    raise InputError(
        f'labelled data in a plan are a number of items, ids, or a file "labels.csv", not {value!r}'
    )


def _initial(value: Any) -> Any:
    part = _part(value)
    if part.get("file") is not None:
        raise InputError(
            f"initial in the plan is a number of items, ids, or {{per_class = 2}}, not {part['file']!r}; "
            "a file of known labels is named by labels = ..."
        )
    return part


def _task(value: Any) -> Any:
    task = named(value)
    if isinstance(value, Mapping):
        return dict(value)
    usual = TASKS[choose("task", task.name, TASKS)]().options
    return {"name": task.name, **{key: own for key, own in task.options.items() if own != usual[key]}}


def _names(value: Any, info: Any) -> Any:
    """The names as text; none at all means that the field is left out."""
    given = value if isinstance(value, int | str) else tuple(value)
    return () if given == () else names(given, kind=str(info.field_name), least=1)


def _posterior(value: Any) -> Any:
    posterior = as_posterior(value)
    return dict(value) if isinstance(value, Mapping) else {"name": posterior.name, **posterior.options()}


def _training(value: Any) -> Any:
    options = as_training(value).options()
    return dict(value) if isinstance(value, Mapping) else options


def _acquisition(value: Any) -> Any:
    if callable(value):
        return reference_to(value)
    if isinstance(value, str) and is_reference(value):
        return value
    return choose("acquisition", value, ACQUISITIONS)


def _selection(value: str) -> str:
    return choose("selection", value, SELECTIONS)


def _first_selection(value: str | None) -> str | None:
    cold = [name for name, known in SELECTIONS.items() if known.cold_start]
    return None if value is None else choose("selection without a model", value, cold)


def _engine(value: Any) -> Any:
    return choose("engine", value.name if isinstance(value, Engine) else value, ENGINES)


def _network(value: str | None) -> str | None:
    return value if value is None or is_reference(value) else choose("network", value, NETWORKS)


PART = BeforeValidator(_part)
INITIAL = BeforeValidator(_initial)
TaskField: TypeAlias = Annotated[dict[str, Any], BeforeValidator(_task)]
Names: TypeAlias = Annotated[tuple[str, ...], BeforeValidator(_names)]
PosteriorField: TypeAlias = Annotated[dict[str, Any], BeforeValidator(_posterior)]
TrainingField: TypeAlias = Annotated[dict[str, Any], BeforeValidator(_training)]
Acquire: TypeAlias = Annotated[str, BeforeValidator(_acquisition)]
Select: TypeAlias = Annotated[str, AfterValidator(_selection)]
FirstSelect: TypeAlias = Annotated[str | None, AfterValidator(_first_selection)]
EngineField: TypeAlias = Annotated[str, BeforeValidator(_engine)]
Network: TypeAlias = Annotated[str | None, AfterValidator(_network)]
