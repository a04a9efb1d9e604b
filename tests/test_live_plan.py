"""What `sojourn switch` is asked for."""

from sojourn.live.ask import live_plan


def test_a_port_is_an_interface_or_nothing_or_loops() -> None:
    plan = live_plan("v1model/router", ports=["1=veth1", "2=none", "3=loop"])
    assert [port.interface for port in plan.ports] == ["veth1", "none", "loop"]
    assert [port.get("loops", False) for port in plan.config["ports"]] == [False, False, True]
