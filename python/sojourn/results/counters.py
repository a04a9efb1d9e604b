"""The counters of a run: `counters.json`, validated when it is read.

A run's folder may come from an untrusted source. Figures, tables and pages take numbers from this
file, so a file of another form is refused as a whole. Must not depend on how numbers are shown.
"""

from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sojourn.common.textfile import read_json
from sojourn.runtime.run_files import COUNTERS

Count = Annotated[int, Field(ge=0, lt=1 << 63)]


class _Open(BaseModel):
    model_config = ConfigDict(strict=True, extra="allow")


class _Flow(_Open):
    delivered: Count
    segments: Count


class _Bottleneck(_Open):
    shaper_rate: Count | None
    shaper_burst: Count | None


class _Link(_Open):
    """A direction of a link that treats packets at random."""

    from_: Annotated[str, Field(alias="from", max_length=200)]
    to: Annotated[str, Field(max_length=200)]
    frames: Count
    lost: Count
    duplicated: Count
    reordered: Count


class _Unsynchronised(_Open):
    total: Count
    max: Count


class _Fault(_Open):
    kind: str
    count: Count
    first: str
    place: str | None


class _DepthReports(_Open):
    delivered: Count
    lost: Count
    delay: Count
    interval: Count
    cells: Count
    order: Annotated[str, Field(max_length=20)]


class _FlowControl(_Open):
    paused: Count
    resumed: Count
    no_queue: Count
    delay: Count


class _Counters(_Open):
    simulated: Count
    flows: list[_Flow]
    bottlenecks: list[_Bottleneck]
    links: list[_Link] = []
    faults: list[_Fault] = []
    depth_reports: _DepthReports | None = None
    flow_control: _FlowControl | None = None
    mirrored_packets: Count
    mirror_drops: Count
    recirculated_packets: Count
    recirculation_drops: Count
    generated_packets: Count = 0
    recirculated_share: float
    unsynchronised: _Unsynchronised


def read_counters(folder: Path) -> dict[str, Any]:
    """The counters in `folder`; `OSError` or `ValueError` if they are not those of a run."""
    counters: dict[str, Any] = read_json(folder / COUNTERS)
    try:
        _Counters.model_validate(counters)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"])) or "all of it"
        raise ValueError(f"{COUNTERS}: {where[:100]}: {first['msg']}") from None
    return counters
