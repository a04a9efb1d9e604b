"""`sojourn switch --p4runtime`: a controller, and frames of real interfaces.

What the server does with each message is tested in `crates/protocols`. Needs network namespaces.
"""

from pathlib import Path

import pytest

from conftest import in_lab

pytest.importorskip("grpc", reason="not installed: pip install 'sojourn[dev]'")
pytest.importorskip("p4.v1", reason="not installed: pip install 'sojourn[dev]'")

PROGRAM = Path(__file__).parent.parent / "crates/protocols/tests/controlled.p4"


def test_a_controller_pushes_a_program_and_has_packets_from_interfaces_and_for_them(
    user_namespaces: None, tmp_path: Path
) -> None:
    info = PROGRAM.with_name("controlled.p4info.bin")
    said = in_lab("controllers", tmp_path, str(PROGRAM), str(info))
    assert said["status"] == 0
    assert said["entries"] == 2
    assert said["packet in"] == "told"
    assert said["metadata"] == {"ingress_port": 1, "reason": 5}
    # The pushed program sends what its entry says, drops what has none, and sends what the
    # controller hands out.
    assert said["behind port 2"] == ["sent", "out"]
