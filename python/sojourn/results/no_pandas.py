"""Substitute for rows as pandas tables where pandas is missing: `read_pandas` names the package.

pyarrow's own reader raises a bare `ModuleNotFoundError` there, and its class can take no other
method. Must not depend on a run.
"""

from collections.abc import Iterator
from importlib.util import find_spec
from types import TracebackType
from typing import Any, NoReturn, Self, cast

import pyarrow as pa

from sojourn.errors import ScenarioError


def missing_pandas() -> ScenarioError:
    """The error of a data frame without pandas."""
    return ScenarioError("a data frame needs pandas, which is not installed: pip install pandas")


def with_hint(reader: pa.RecordBatchReader) -> pa.RecordBatchReader:
    """`reader` itself with pandas; without it the same rows with a `read_pandas` that raises
    `missing_pandas`."""
    return reader if find_spec("pandas") else cast(pa.RecordBatchReader, _Reader(reader))


class _Reader:
    """Passes everything but `read_pandas` to a reader, and is an instance of its class."""

    def __init__(self, reader: pa.RecordBatchReader) -> None:
        self._reader = reader

    @property  # type: ignore[misc] # isinstance() reads it
    def __class__(self) -> Any:
        return pa.RecordBatchReader

    def __getattr__(self, name: str) -> Any:
        return getattr(self._reader, name)

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        return iter(self._reader)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._reader.close()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._reader.__arrow_c_stream__(requested_schema)

    def read_pandas(self, **_: Any) -> NoReturn:
        raise missing_pandas()
