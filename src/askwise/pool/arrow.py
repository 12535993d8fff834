"""Columns of Parquet files and of datasets that Hugging Face's library saved on the disk."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from askwise.errors import InputError
from askwise.files import json_object


def columns(path: Path) -> list[str]:
    """The names of the columns."""
    with _reading(path) as (schema, _):
        return list(schema.names)


def cells(path: Path, wanted: list[str]) -> Iterator[list[Any]]:
    """The wanted cells of every row, one after the other."""
    with _reading(path) as (_, batches):
        for batch in batches(wanted):
            batch.validate(full=True)  # a damaged one could point anywhere
            for record in batch.to_pylist():
                yield [record[column] for column in wanted]


@contextmanager
def _reading(path: Path) -> Iterator[Any]:
    """Schema and batches of a file or dataset; whatever is damaged is refused in one line."""
    import pyarrow as pa

    opening = _dataset if path.is_dir() else _parquet
    kind = "a saved dataset" if path.is_dir() else "Parquet"
    try:
        with opening(path) as found:
            yield found
    except (pa.ArrowException, OSError, UnicodeDecodeError, OverflowError, MemoryError) as error:
        line = str(error).strip().partition("\n")[0] or type(error).__name__
        raise InputError(f"{path} cannot be read as {kind}: {line}") from error


@contextmanager
def _parquet(path: Path) -> Iterator[Any]:
    import pyarrow.parquet as pq

    with pq.ParquetFile(path, page_checksum_verification=True) as file:
        yield file.schema_arrow, lambda wanted: file.iter_batches(columns=wanted)


@contextmanager
def _dataset(folder: Path) -> Iterator[Any]:
    """The files that `Dataset.save_to_disk` wrote, in their order."""
    import pyarrow as pa

    files = _files(folder)

    def batches(wanted: list[str]) -> Iterator[Any]:
        for file in files:
            with pa.memory_map(str(file)) as source, pa.ipc.open_stream(source) as stream:
                for batch in stream:
                    batch.validate(full=True)
                    yield batch.select(wanted)

    with pa.memory_map(str(files[0])) as source, pa.ipc.open_stream(source) as stream:
        yield stream.schema, batches


def _files(folder: Path) -> list[Path]:
    splits = json_object(folder / "dataset_dict.json").get("splits")
    if splits:
        raise InputError(f"{folder} holds several datasets; give one of them: {folder / str(splits[0])}")
    state = json_object(folder / "state.json")
    if not state:
        raise InputError(f"{folder} is no saved dataset: it has no state.json that can be read")
    if state.get("_indices_files") or state.get("_indices_data_files"):
        raise InputError(f"{folder} keeps its rows in another order; save dataset.flatten_indices() instead")
    names = [Path(str(part.get("filename"))).name for part in state.get("_data_files", [])]
    if not names:
        raise InputError(f"{folder} is an empty dataset")
    missing = next((name for name in names if not (folder / name).is_file()), None)
    if missing is not None:
        raise InputError(f"{folder} lacks {missing}, which its state.json names")
    return [folder / name for name in names]
