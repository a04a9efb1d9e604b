"""Jobs on a Dask cluster. Depends on `distributed`, an extra of the package, and on `run_job`.

A job carries all that it reads, and its outcome comes back whole: no folder is shared.
"""

from asyncio import CancelledError
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from typing import Any

from sojourn.errors import SojournError
from sojourn.studies.sweeps.job import Failure, Job, Outcome, engine_identity
from sojourn.studies.sweeps.run_job import work

_PATIENCE = 10
"""Seconds that a cluster may take to answer."""
_AHEAD = 3
"""Jobs that wait for each thread of a worker, so that none is idle while outcomes travel."""


class ClusterWorkers:
    """The workers behind a Dask scheduler."""

    def __init__(self, address: str) -> None:
        try:
            import distributed
        except ImportError:
            raise SojournError(
                "--cluster needs Dask: pip install 'sojourn[cluster]', here and on every worker"
            ) from None
        self._address = address
        try:
            connect: Any = distributed.Client
            self._client = connect(address, timeout=_PATIENCE, set_as_default=False)
        except (OSError, ValueError, TimeoutError) as error:
            raise SojournError(
                f"--cluster {address}: no Dask scheduler answers there: {error}\n"
                "Start one with `dask scheduler`, and workers with `dask worker ADDRESS`."
            ) from None
        self.name = f"the cluster at {address}"
        self.count = self._check_engines()

    def _check_engines(self) -> int:
        """The number of jobs that run at once; an error if a worker has another engine."""
        try:
            own, found = engine_identity(), self._client.run(engine_identity)
        except Exception as error:
            raise SojournError(
                f"--cluster {self._address}: Sojourn does not run on its workers: {error}"
            ) from None
        if not found:
            raise SojournError(f"--cluster {self._address}: the scheduler has no workers yet")
        others = {address: engine for address, engine in found.items() if engine != own}
        if others:
            versions = "\n".join(f"{address} has {engine}" for address, engine in others.items())
            raise SojournError(
                f"here is Sojourn {own}, but\n{versions}\nInstall the same everywhere."
            )
        return sum(worker["nthreads"] for worker in self._workers().values())

    def _workers(self) -> dict[str, Any]:
        workers: dict[str, Any] = self._client.scheduler_info(n_workers=-1)["workers"]
        return workers

    def outcomes(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, Outcome | Failure]]:
        """Runs `jobs` and yields each with what it came to, in the order in which they end."""
        source = iter(jobs)
        running = {self._submit(job): job for job in islice(source, _AHEAD * self.count)}
        try:
            while running:
                for future in self._ended(list(running)):
                    job = running.pop(future)
                    yield job, self._outcome(future)
                    if (following := next(source, None)) is not None:
                        running[self._submit(following)] = following
        finally:
            # Of a cluster that is gone nothing can be taken back.
            with suppress(Exception, CancelledError):
                self._client.cancel(list(running), force=True)
            with suppress(Exception, CancelledError):
                self._client.close(timeout=_PATIENCE)

    @contextmanager
    def _talking(self) -> Iterator[None]:
        """Dask says in many ways that its scheduler is gone."""
        try:
            yield
        except TimeoutError:
            raise
        except (Exception, CancelledError) as error:
            raise self._gone() from error

    def _submit(self, job: Job) -> Any:
        with self._talking():
            return self._client.submit(work, job, key=f"sojourn-{job.digest}", pure=False)

    def _ended(self, futures: list[Any]) -> list[Any]:
        """Those that have ended, at least one; none after a silence in which the cluster lived."""
        import distributed

        wait: Any = distributed.wait
        try:
            # Dask's `wait` asks the current client.
            with self._talking(), self._client.as_current():
                return list(wait(futures, _PATIENCE, "FIRST_COMPLETED").done)
        except TimeoutError:
            self._see_that_it_lives()
            return []

    def _outcome(self, future: Any) -> Outcome | Failure:
        if future.status == "cancelled":
            raise self._gone()
        if future.status == "error":
            return Failure(f"the worker that ran it: {future.exception()}")
        with self._talking():
            outcome: Outcome | Failure = future.result(timeout=_PATIENCE)
        return outcome

    def _see_that_it_lives(self) -> None:
        """After a silence: a scheduler that is gone, or has no workers any more, is said so."""
        if self._client.status != "running":
            raise self._gone()
        try:
            alive = self._workers()
        except Exception:
            raise self._gone() from None
        if not alive:
            raise self._gone("it has no workers any more")

    def _gone(self, why: str = "it does not answer any more") -> SojournError:
        return SojournError(
            f"--cluster {self._address}: {why}; the runs that ended until then are kept\n"
            "Give the same command again to go on."
        )
