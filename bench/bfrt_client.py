"""100,000 entries through the BfRt server of a running switch and back, by the vendor's client.

    sojourn switch crates/protocols/tests/tofino.p4 --port 1=none --bfrt 127.0.0.1:50052
    PYTHONPATH=FOLDER python bench/bfrt_client.py 127.0.0.1:50052

FOLDER has the package `bfrt_grpc`: `client.py` and `info_parse.py` of open-p4studio, unmodified,
and what `grpc_tools.protoc` makes of its `bfruntime.proto`.
"""

import sys
import time
from collections.abc import Callable
from typing import Any, TypeVar

import bfrt_grpc.client as gc

TOGETHER = 5_000
T = TypeVar("T")


def timed(what: str, work: Callable[[], T]) -> T:
    """Does work, and prints how long it took."""
    begun = time.monotonic()
    done = work()
    print(f"{what} in {time.monotonic() - begun:.2f} s")
    return done


def main(address: str, entries: int = 100_000) -> None:
    """Prints the seconds of each."""
    interface = gc.ClientInterface(address, client_id=0, device_id=0)
    name = "tofino"
    interface.bind_pipeline_config(name)
    info = interface.bfrt_info_get(name)
    target = gc.Target(device_id=0, pipe_id=0xFFFF)
    table = info.table_get("Ingress.exact_t")

    def key(number: int) -> Any:
        return table.make_key([gc.KeyTuple("dst", number)])

    data = table.make_data([gc.DataTuple("port", 1)], "Ingress.send")
    count = min(entries, table.info.size_get())
    keys = [key(number) for number in range(1, count + 1)]

    def write() -> None:
        for first in range(0, count, TOGETHER):
            some = keys[first : first + TOGETHER]
            table.entry_add(target, some, [data] * len(some))

    timed(f"{count:,} entries written", write)
    found = timed("read back", lambda: sum(1 for _ in table.entry_get(target)))
    assert found == count, found
    timed("taken out", lambda: table.entry_del(target))
    register = info.table_get("Ingress.pairs")
    cell = [register.make_key([gc.KeyTuple("$REGISTER_INDEX", 3)])]
    values = [gc.DataTuple("first", 11), gc.DataTuple("second", 12)]
    register.entry_add(target, cell, [register.make_data(values)])
    read, _ = next(register.entry_get(target, cell, {"from_hw": True}))
    print("a register's cell:", read.to_dict())
    pipes, _ = next(info.table_get("device_configuration").entry_get(target))
    print("pipes:", pipes.to_dict()["num_pipes"])
    session = info.table_get("$mirror.cfg")
    sid = [session.make_key([gc.KeyTuple("$sid", 5)])]
    to = [
        gc.DataTuple("$direction", str_val="INGRESS"),
        gc.DataTuple("$ucast_egress_port", 1),
        gc.DataTuple("$ucast_egress_port_valid", bool_val=True),
        gc.DataTuple("$session_enable", bool_val=True),
    ]
    session.entry_add(target, sid, [session.make_data(to, "$normal")])
    try:
        session.entry_add(target, sid, [session.make_data(to, "$normal")])
    except gc.BfruntimeReadWriteRpcException as refused:
        print("a session twice:", str(refused).strip())
    session.entry_del(target, sid)
    timed("everything begun anew", interface.clear_all_tables)


if __name__ == "__main__":
    main(sys.argv[1])
