"""PIE and RED for Tofino compared with the native disciplines, in a shipped scenario.

Both drop behind the scheduler and the native ones in front of the queue, so single decisions cannot
be compared. What can: the mean delay and the share of packets that is dropped, which
`p4/README.md` gives with the tolerance that this file holds.
"""

import json

import pytest

from conftest import Sojourn

TOLERANCE = 0.15
"""Of the native discipline's mean delay, and of its share of drops."""


@pytest.mark.parametrize("aqm", ["pie", "red"])
def test_a_program_holds_the_delay_and_drops_as_the_native_discipline(
    aqm: str, sojourn: Sojourn
) -> None:
    command = ["run", "disciplines", "--aqm", aqm, "--aqm", f"tna/{aqm}", "--duration", "20 s"]
    done = sojourn(*command, "--no-report", "--json", "--out", "run")
    native, program = json.loads(done.stdout)["aqms"]
    assert program["mean"] == pytest.approx(native["mean"], rel=TOLERANCE)
    shares = [each["aqm_drops"] / each["packets"] for each in (program, native)]
    assert shares[0] == pytest.approx(shares[1], rel=TOLERANCE)


def test_the_list_of_aqms_names_the_published_program(sojourn: Sojourn) -> None:
    listed = json.loads(sojourn("aqms", "--json").stdout)
    published = {aqm["name"]: aqm["published"] for aqm in listed if aqm["published"]}
    assert published["tna/pie"] == ["published/pie-for-tofino"]
    assert "published/pie-for-tofino" in sojourn("aqms").stdout
