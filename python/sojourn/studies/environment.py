"""A queue of a scenario as a Gymnasium environment: an agent sets its drop probability or target.

A step is an interval of virtual time with one setting. Depends on plans and on the engine's run.
Must not depend on results or on what an agent learns. Needs `sojourn[gym]`.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import count
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import numpy as np

from sojourn import _core
from sojourn.errors import ScenarioError
from sojourn.model.scenario import Scenario
from sojourn.model.units import TIME
from sojourn.runner import plan_scenario
from sojourn.runtime.engine import discard_rows
from sojourn.runtime.plan import PlannedRun
from sojourn.runtime.row_writer import ROWS_AT_ONCE

try:
    import gymnasium
except ImportError:
    raise ScenarioError("the environment needs gymnasium: pip install 'sojourn[gym]'") from None

OBSERVED = ("packets", "bytes", "delay", "arrived", "dropped", "marked", "sent", "sent_bytes")
"""The components of an observation: fields of `QueueInterval`, the delay in ms."""

_SETTINGS: dict[str, tuple[float, float]] = {"probability": (0.0, 1.0), "target": (0.1, 100.0)}
"""Kinds of action with their bounds: a probability; CoDel's TARGET in ms."""

_numbers = count(1)


class QueueInterval(NamedTuple):
    """A queue in one interval: its state at the end, and the packets that it handled meanwhile."""

    time: int
    """The end of the interval, ns of virtual time."""
    interval: int
    """Its length, ns."""
    packets: int
    """Packets that the queue holds at the end."""
    bytes: int
    """Their bytes."""
    arrived: int
    dropped: int
    """Packets dropped by the agent's setting."""
    marked: int
    sent: int
    sent_bytes: int
    delay: float
    """Mean sojourn time of the packets sent, ns; 0 if there are none."""

    @property
    def rate(self) -> float:
        """Rate at which the queue has sent, bit/s."""
        return 8e9 * self.sent_bytes / self.interval if self.interval else 0.0


Reward = Callable[[QueueInterval], float]


class QueueEnv(gymnasium.Env[np.ndarray, np.ndarray]):
    """The bottleneck's queue of `scenario`, which an agent controls.

    `reward` judges each interval. An action is an array of one number: with `action` "probability"
    the drop probability of arriving packets, with "target" CoDel's TARGET in ms. With `ecn`,
    packets of ECN-capable transports are marked instead of dropped. `set` has keys of the scenario
    by dotted names. An episode is the scenario's duration, at whose end it is truncated. The same
    seed of `reset` and the same actions give the same course. Raises `ScenarioError` for a scenario
    that makes no sense, or whose controlled queue is not exactly one.

    >>> env = sojourn.QueueEnv("bufferbloat", lambda queue: -queue.delay, set={"duration": "1 s"})
    >>> observation, info = env.reset(seed=1)
    >>> observation, reward, terminated, truncated, info = env.step(env.action_space.sample())
    >>> info["queue"].time
    10000000
    """

    metadata = {"render_modes": []}  # noqa: RUF012 - as Gymnasium declares it

    def __init__(
        self,
        scenario: str | Path | Scenario | Mapping[str, Any],
        reward: Reward,
        *,
        interval: str | int = "10 ms",
        action: Literal["probability", "target"] = "probability",
        ecn: bool = False,
        set: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        if action not in _SETTINGS:
            raise ScenarioError(f"action: {action!r}: it can be {' or '.join(_SETTINGS)}")
        self._reward, self._action = reward, action
        self._interval = _interval(interval)
        self._name = f"agent@{next(_numbers)}"
        self._run = _controlled(scenario, set, self._name, ecn)
        low, high = _SETTINGS[action]
        self.action_space = gymnasium.spaces.Box(low, high, (1,), np.float64)
        self.observation_space = gymnasium.spaces.Box(0.0, np.inf, (len(OBSERVED),), np.float64)
        self._simulation: _core.Simulation | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Begins the run anew, under `seed` or one that the environment draws."""
        super().reset(seed=seed)
        drawn = int(self.np_random.integers(2**63)) if seed is None else seed
        run = replace(self._run, config=self._run.config | {"seed": drawn})
        self._queue = _core.ControlledQueue(self._name)
        self._simulation = _core.Simulation(run.configuration, list(run.programs))
        self._counts = self._queue.counts()
        nothing = QueueInterval(0, 0, 0, 0, 0, 0, 0, 0, 0, 0.0)
        return _observation(nothing), {"queue": nothing, "seed": drawn}

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Applies the action for one interval."""
        simulation = self._simulation
        if simulation is None or simulation.finished:
            raise ScenarioError("the episode has ended: call reset()")
        self._apply(float(np.asarray(action, dtype=np.float64).reshape(-1)[0]))
        began = simulation.now
        _advance(simulation, began + self._interval)
        queue = self._seen(simulation.now - began)
        done = simulation.finished
        return _observation(queue), float(self._reward(queue)), False, done, {"queue": queue}

    def _apply(self, value: float) -> None:
        low, high = _SETTINGS[self._action]
        if not low <= value <= high:
            raise ScenarioError(f"action: {value:g}: a {self._action} is from {low:g} to {high:g}")
        if self._action == "probability":
            self._queue.set_probability(round(value * 1e6))
        else:
            self._queue.set_target(round(value * 1e6))

    def _seen(self, interval: int) -> QueueInterval:
        before, self._counts = self._counts, self._queue.counts()
        packets, held = self._counts[:2]
        arrived, dropped, marked, sent, sent_bytes, waited = (
            now - then for now, then in zip(self._counts[2:], before[2:], strict=True)
        )
        assert self._simulation is not None, "reset has made it"
        return QueueInterval(
            self._simulation.now,
            interval,
            packets,
            held,
            arrived,
            dropped,
            marked,
            sent,
            sent_bytes,
            waited / sent if sent else 0.0,
        )


def _interval(written: str | int) -> int:
    try:
        interval = written if isinstance(written, int) else TIME.parse(written)
    except ValueError as error:
        raise ScenarioError(f"interval: {written!r}: {error}") from None
    if interval <= 0:
        raise ScenarioError(f"interval: {written!r}: it is more than 0")
    return interval


def _controlled(
    scenario: str | Path | Scenario | Mapping[str, Any],
    changes: Mapping[str, Any],
    name: str,
    ecn: bool,
) -> PlannedRun:
    """The scenario's run with the agent's queue as its AQM."""
    plan = plan_scenario(scenario, set=changes, aqms="fifo")
    (run,) = plan.runs
    queues = [queue.name for queue in run.bottlenecks if queue.own_aqm is None]
    if len(queues) != 1:
        listed = ", ".join(queues) or "none"
        raise ScenarioError(
            f"{plan.name}: an agent controls one queue, and those without an AQM of their own are "
            f"{listed}; name an aqm for the other switches"
        )
    if plan.scenario.control is not None:
        raise ScenarioError(f"{plan.name}: control: a controller needs a P4 program")
    _core.add_controlled_queue(name)
    aqm = {"kind": "native", "name": name, "ecn": int(ecn)}
    return replace(run, config=run.config | {"aqm": aqm})


def _advance(simulation: _core.Simulation, until: int) -> None:
    """Runs until `until`, or to the end; rows are not needed and are discarded."""
    while not simulation.finished and simulation.now < until:
        simulation.advance(until, ROWS_AT_ONCE)
        discard_rows(simulation)


def _observation(queue: QueueInterval) -> np.ndarray:
    values = queue._replace(delay=queue.delay / 1e6)
    return np.array([getattr(values, name) for name in OBSERVED], dtype=np.float64)
