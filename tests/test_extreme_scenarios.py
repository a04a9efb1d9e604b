"""Scenarios of extreme size or depth: each ends in a message and status 2, within seconds."""

from pathlib import Path
from typing import Any

import pytest

from sojourn.errors import ScenarioError
from sojourn.model.scenario import read_scenario, scenario_from_dict
from sojourn.runtime.folder import RunFolder

HEAD = 'duration = "100 ms"\naqms = ["fifo"]\n'
REST = '\n[switch]\nrate = "1 Mbit/s"\n[[flows]]\nrtt = "5 ms"\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"{HEAD}x = {'[' * 100_000}{']' * 100_000}{REST}", "nested too deep"),
        (f"{HEAD}x = {'{a=' * 5_000}1{'}' * 5_000}{REST}", "nested too deep"),
        (f"{HEAD}{'.'.join(['a'] * 20_000)} = 1{REST}", "nested too deep"),
        (f"{HEAD}seed = {'9' * 10_000}{REST}", "not valid TOML"),
        (f"{HEAD}# {'x' * (17 << 20)}{REST}", "bytes"),
    ],
)
def test_a_file_that_is_too_deep_or_too_long_is_refused(
    tmp_path: Path, text: str, message: str
) -> None:
    (tmp_path / "odd.toml").write_text(text)
    with pytest.raises(ScenarioError, match=message):
        read_scenario(tmp_path / "odd.toml")


def network(hosts: list[Any], links: int | None = None) -> dict[str, Any]:
    names = [host if isinstance(host, str) else host["name"] for host in hosts]
    return {
        "duration": "100 ms",
        "aqms": ["fifo"],
        "hosts": hosts,
        "switches": [{"name": "s"}],
        "links": [{"between": [name, "s"], "rate": "1 Mbit/s"} for name in names[:links]],
        "flows": [{"from": "a", "to": "b"}],
    }


def test_more_hosts_steps_or_links_than_anything_can_show_are_refused() -> None:
    many = ["a", "b", *(f"h{number}" for number in range(70_000))]
    with pytest.raises(ScenarioError, match="at most 10000 items"):
        scenario_from_dict(network(many))
    unlinked = network(many[:5_000], links=2)
    with pytest.raises(ScenarioError) as error:
        scenario_from_dict(unlinked)
    assert len(str(error.value)) < 2_000
    steps = [{"at": f"{at + 1} us", "rate": "1 Mbit/s"} for at in range(40_000)]
    switch = {"rate": "1 Mbit/s", "schedule": steps}
    with pytest.raises(ScenarioError, match="at most 1000 items"):
        scenario_from_dict(
            {"duration": "1 s", "aqms": ["fifo"], "switch": switch, "flows": [{"rtt": "5 ms"}]}
        )


@pytest.mark.parametrize(
    "address",
    [
        "0.0.0.0",
        "127.0.0.1",
        "127.255.0.9",
        "224.0.0.1",
        "239.1.2.3",
        "255.255.255.255",
        "240.0.0.1",
        "169.254.0.1",
    ],
)
def test_addresses_that_no_host_can_have_are_refused(address: str) -> None:
    with pytest.raises(ScenarioError, match="a host cannot have this address"):
        scenario_from_dict(network([{"name": "a", "address": address}, "b"]))


@pytest.mark.parametrize("address", ["::", "::1", "ff02::1", "fe80::1", "::ffff:10.0.0.1"])
def test_addresses_of_version_6_that_no_host_can_have_are_refused(address: str) -> None:
    with pytest.raises(ScenarioError, match="a host cannot have this address"):
        scenario_from_dict(network([{"name": "a", "address6": address}, "b"]))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b"5",
        b"null",
        b"\xff",
        b"{}",
        b'{"format": 1}',
        b'{"format": 1, "name": 5}',
        b'{"format": 2}',
        b"[" * 200_000,
        b'{"format": 1, "runs": ' + b"9" * 5000 + b"}",
        b'{"format": 1, "name": "x", "seed": 1, "scenario": {"aqms": 5}, "runs": [], '
        b'"provenance": {"sojourn": "1", "python": "3", "libraries": {}}}',
    ],
)
def test_a_damaged_run_json_is_refused_with_its_place(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "run.json").write_bytes(content)
    with pytest.raises(ScenarioError) as error:
        RunFolder.open(tmp_path)
    assert len(str(error.value)) < 1_000


@pytest.mark.parametrize(
    "text",
    [
        HEAD + "".join(f"k{number} = 1\n" for number in range(200_000)) + REST,
        f'duration = "1 a{" " * 500_000}\\n"\naqms = ["fifo"]\n{REST}',
        f'{HEAD}x = """\n[ a{" " * 500_000}b{" " * 500_000}\n"""\n{REST}',
        f"{HEAD}{' ' * 500_000}\n{chr(10) * 500_000}x = 1\n{REST}",
        f"{HEAD}a{' ' * 500_000}x\n{REST}",
    ],
)
def test_a_long_mistake_is_reported_in_time_that_grows_with_its_length(
    tmp_path: Path, text: str
) -> None:
    """Each takes minutes if a pattern looks at its blanks once for each of them."""
    (tmp_path / "long.toml").write_text(text)
    with pytest.raises(ScenarioError) as told:
        read_scenario(tmp_path / "long.toml")
    assert len(str(told.value).splitlines()) <= 9


def test_a_thousand_unknown_hosts_are_enough() -> None:
    odd = network(["a", "b"])
    odd["flows"] = [{"from": f"x{number}", "to": "b"} for number in range(5_000)]
    with pytest.raises(ScenarioError, match="and 992 more"):
        scenario_from_dict(odd)
