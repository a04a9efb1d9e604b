"""The queue of a scenario as a Gymnasium environment."""

import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import sojourn
from sojourn.studies.environment import OBSERVED, QueueEnv, QueueInterval

gymnasium = pytest.importorskip("gymnasium")

SCENARIO: dict[str, Any] = {
    "duration": "2 s",
    "aqms": ["fifo"],
    "switch": {"rate": "10 Mbit/s"},
    "flows": [{"count": 2, "rtt": "20 ms"}],
}
BEST = 20e6
"""The delay that the test's reward wants, ns."""


def closeness(queue: QueueInterval) -> float:
    """1 at the wanted delay, less the further the delay is from it."""
    return max(1 - abs(queue.delay - BEST) / BEST, -1.0)


def course(env: QueueEnv, seed: int, actions: list[float]) -> list[tuple[Any, ...]]:
    env.reset(seed=seed)
    steps = [env.step(np.array([action])) for action in actions]
    return [(tuple(seen), reward, done) for seen, reward, _, done, _ in steps]


@pytest.mark.parametrize("action", ["probability", "target"])
def test_gymnasiums_checker_accepts_the_environment(action: Any) -> None:
    from gymnasium.utils.env_checker import check_env

    env = QueueEnv(SCENARIO, closeness, action=action)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_env(env, skip_render_check=True)


def test_the_same_seed_and_actions_give_the_same_course_and_another_seed_another() -> None:
    env = QueueEnv(SCENARIO, closeness)
    actions = [0.0, 0.1, 0.02, 0.5] * 20
    one = course(env, 7, actions)
    assert course(env, 7, actions) == one
    assert course(QueueEnv(SCENARIO, closeness), 7, actions) == one
    assert course(env, 8, actions) != one


def test_an_episode_is_one_run_with_the_queues_counts() -> None:
    env = QueueEnv(SCENARIO, closeness, interval="50 ms")
    _, info = env.reset(seed=3)
    assert info["seed"] == 3
    queues, done = [], False
    while not done:
        _, _, ended, done, info = env.step(np.array([0.01]))
        assert not ended
        queues.append(info["queue"])
    assert [queue.time for queue in queues] == list(range(50_000_000, 2_000_000_001, 50_000_000))
    arrived = sum(queue.arrived for queue in queues)
    assert arrived == sum(q.dropped + q.sent for q in queues) + queues[-1].packets
    assert 0 < sum(queue.dropped for queue in queues) < arrived / 10
    assert max(queue.rate for queue in queues) <= 10.1e6
    with pytest.raises(sojourn.ScenarioError, match=r"call reset\(\)"):
        env.step(np.array([0.0]))


def test_a_certain_drop_lets_nothing_through_and_a_low_target_means_less_delay() -> None:
    env = QueueEnv(SCENARIO, closeness)
    env.reset(seed=1)
    for _ in range(20):
        env.step(np.array([1.0]))
    assert env.step(np.array([1.0]))[4]["queue"].sent == 0
    targets = QueueEnv(SCENARIO, closeness, action="target")
    waited = {
        target: np.mean(
            [seen[OBSERVED.index("delay")] for seen, _, _ in course(targets, 1, [target] * 200)]
        )
        for target in (1.0, 100.0)
    }
    assert waited[1.0] < waited[100.0]


def test_with_ecn_packets_are_marked() -> None:
    flows = [{"count": 2, "rtt": "20 ms", "ecn": True}]
    env = QueueEnv(SCENARIO | {"flows": flows}, closeness, ecn=True)
    env.reset(seed=1)
    queues = [env.step(np.array([0.1]))[4]["queue"] for _ in range(100)]
    assert sum(queue.marked for queue in queues) > 10


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"action": "speed"}, "it can be probability or target"),
        ({"interval": "0 ms"}, "it is more than 0"),
        ({"interval": "ten"}, "interval: 'ten'"),
        ({"set": {"durration": "1 s"}}, "durration"),
    ],
)
def test_a_mistake_is_named(options: dict[str, Any], complaint: str) -> None:
    with pytest.raises(sojourn.ScenarioError, match=complaint):
        QueueEnv(SCENARIO, closeness, **options)


def test_a_scenario_with_several_free_queues_is_refused() -> None:
    scenario = sojourn.load_scenario("two_bottlenecks")
    document = scenario.model_dump(mode="json", exclude_none=True)
    QueueEnv(document, closeness)
    del document["switches"][1]["aqm"]
    with pytest.raises(sojourn.ScenarioError, match="an agent controls one queue"):
        QueueEnv(document, closeness)


def test_without_gymnasium_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    monkeypatch.delitem(sys.modules, "sojourn.studies.environment")
    with pytest.raises(sojourn.ScenarioError, match=r"pip install 'sojourn\[gym\]'"):
        _ = sojourn.QueueEnv


def test_everything_else_is_imported_without_gymnasium(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    monkeypatch.delitem(sys.modules, "sojourn.studies.environment")
    names: dict[str, object] = {}
    exec("from sojourn import *", names)
    assert "run" in names and "QueueEnv" not in names
    monkeypatch.undo()
    exec("from sojourn import *", names)
    assert names["QueueEnv"] is QueueEnv


ACTIONS = (0.0, 0.003, 0.01, 0.03, 0.1, 0.3)
"""Probabilities among which the tabular agent chooses."""


def worth(queue: QueueInterval) -> float:
    """The share of the link that is used, less a fortieth for each ms of delay."""
    return queue.rate / 10e6 - queue.delay / 40e6


def state(observation: np.ndarray) -> int:
    """The delay, in steps of 5 ms."""
    return min(int(observation[OBSERVED.index("delay")] / 5), 8)


class Table:
    """Q-learning: the worth of each action in each state."""

    def __init__(self, random: np.random.Generator) -> None:
        self._random = random
        self._values = np.zeros((9, len(ACTIONS)))

    def any(self, _: int) -> int:
        return int(self._random.integers(len(ACTIONS)))

    def best(self, where: int) -> int:
        return int(self._values[where].argmax())

    def explored(self, share: float) -> Callable[[int], int]:
        def choose(where: int) -> int:
            return self.any(where) if self._random.random() < share else self.best(where)

        return choose

    def learn(self, before: int, action: int, reward: float, after: int) -> None:
        gained = reward + 0.9 * self._values[after].max() - self._values[before, action]
        self._values[before, action] += 0.1 * gained


def played(
    env: QueueEnv, seed: int, choose: Callable[[int], int], table: Table | None = None
) -> float:
    """The mean reward of an episode, from which `table` learns."""
    observation, _ = env.reset(seed=seed)
    rewards, done = [], False
    while not done:
        before = state(observation)
        action = choose(before)
        observation, reward, _, done, _ = env.step(np.array([ACTIONS[action]]))
        rewards.append(reward)
        if table is not None:
            table.learn(before, action, reward, state(observation))
    return float(np.mean(rewards))


def test_a_tabular_agent_learns_to_use_the_link_at_less_delay_than_a_random_one() -> None:
    env = QueueEnv(SCENARIO, worth, interval="20 ms", set={"duration": "4 s"})
    table = Table(np.random.default_rng(5))
    for episode in range(30):
        played(env, 100 + episode, table.explored(max(0.1, 1 - episode / 20)), table)
    seeds = range(5)
    learned = [played(env, seed, table.best) for seed in seeds]
    chance = [played(env, seed, table.any) for seed in seeds]
    assert min(learned) > max(chance) + 0.1
