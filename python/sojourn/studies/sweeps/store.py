"""A sweep's folder: a folder for each run that has ended, named by its digest.

A run's folder appears whole, by a rename, so after an interruption every folder that is there is
complete and need not be run again. Depends on files only; knows neither workers nor figures.
"""

import fcntl
import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from sojourn.common.resources import shown
from sojourn.errors import OutputError, output_error
from sojourn.studies.sweeps.job import Failure, Job, Outcome

SWEEP, RESULT, FAILURES = "sweep.json", "result.json", "failures.json"
_RUNS, _UNFINISHED, _LOCK = "runs", ".unfinished-", ".lock"
_FORMAT = 1


class Store:
    """The folder at `path`; locked for this process while the context manager `open` is active."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    @contextmanager
    def open(cls, path: Path, described: Mapping[str, Any]) -> Iterator["Store"]:
        """Makes the folder or takes up an earlier sweep's; refuses one that is something else, or
        into which another sweep is being written."""
        store = cls(path)
        try:
            store._claim()
            with (path / _LOCK).open("w") as lock:
                store._lock(lock.fileno())
                store._remove_unfinished()
                store.write_json(SWEEP, {"format": _FORMAT} | dict(described))
                yield store
        except OSError as error:
            raise output_error(error, shown(path)) from error

    def _claim(self) -> None:
        if self.path.exists() and not self.path.is_dir():
            raise OutputError(f"{shown(self.path)}: there is a file of that name")
        if self.path.is_dir() and any(self.path.iterdir()) and not (self.path / SWEEP).is_file():
            raise OutputError(
                f"{shown(self.path)}: not empty and not a sweep's folder; nothing was touched\n"
                "Give another folder with --out."
            )
        (self.path / _RUNS).mkdir(parents=True, exist_ok=True)

    def _lock(self, file: int) -> None:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise OutputError(f"{shown(self.path)}: another sweep is writing there now") from None

    def _remove_unfinished(self) -> None:
        for left in (self.path / _RUNS).glob(f"{_UNFINISHED}*"):
            shutil.rmtree(left, ignore_errors=True)

    def has(self, job: Job) -> bool:
        """True if `job` has ended here before."""
        return (self._folder(job) / RESULT).is_file()

    def keep(self, job: Job, outcome: Outcome) -> None:
        """Stores what `job` came to, whole or not at all."""
        unfinished = self.path / _RUNS / f"{_UNFINISHED}{job.digest}"
        unfinished.mkdir()
        try:
            for name, data in outcome.files.items():
                target = (unfinished / name).resolve()
                if not target.is_relative_to(unfinished.resolve()):
                    raise OutputError(f"{name}: a worker sent a path that leads out of its folder")
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(data)
            _write_durably(unfinished / RESULT, _json(outcome.result))
            unfinished.rename(self._folder(job))
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)

    def result(self, job: Job) -> dict[str, Any] | None:
        """The outcome of `job`; nothing if it has not ended, or its file was damaged."""
        with suppress(OSError, ValueError):
            found: dict[str, Any] = json.loads((self._folder(job) / RESULT).read_text("utf-8"))
            return found
        return None

    def tell_failures(self, failures: Iterable[tuple[str, Failure]]) -> None:
        """Lists the runs that came to nothing; removes the list if there are none."""
        listed = [{"run": run, "message": failure.message} for run, failure in failures]
        if listed:
            self.write_json(FAILURES, listed)
        else:
            (self.path / FAILURES).unlink(missing_ok=True)

    def write_json(self, name: str, content: object) -> None:
        """Writes `content` to the file `name`, in place of an earlier one at once."""
        new = self.path / f"{_UNFINISHED}{name}"
        _write_durably(new, _json(content))
        new.rename(self.path / name)

    def _folder(self, job: Job) -> Path:
        return self.path / _RUNS / job.digest


def _json(content: object) -> bytes:
    return (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode()


def _write_durably(path: Path, data: bytes) -> None:
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
