"""Commands about the state of externs and parsers: registers, counters, meters, value sets."""

from fractions import Fraction

from sojourn.control import AddToValueSet, ControlError, SetMeter, WriteCounter, WriteRegister
from sojourn.control.values import index, number
from sojourn.runtime_cli.session import MANY, Outcome, Query, Session, UsageError, take


def register_read(words: list[str], session: Session) -> Outcome:
    """`register_read REGISTER [INDEX]`"""
    name, *rest = take(words, 1, 2)
    register = session.program.object("register", name)
    return (Query("register", register.name, index(rest[0], "index") if rest else None),)


def register_write(words: list[str], session: Session) -> Outcome:
    """`register_write REGISTER INDEX VALUE`"""
    name, cell, value = take(words, 3)
    register = session.program.object("register", name)
    at = index(cell, "index")
    _check_cell("register", register.name, register.size, at)
    return (WriteRegister(register.name, at, number(value, "value")),)


def register_reset(words: list[str], session: Session) -> Outcome:
    """`register_reset REGISTER`"""
    register = session.program.object("register", take(words, 1)[0])
    return (WriteRegister(register.name, None, 0),)


def counter_read(words: list[str], session: Session) -> Outcome:
    """`counter_read COUNTER INDEX`"""
    name, cell = take(words, 2)
    counter = session.program.object("counter", name)
    return (Query("counter", counter.name, index(cell, "index")),)


def counter_write(words: list[str], session: Session) -> Outcome:
    """`counter_write COUNTER INDEX PACKETS BYTES`"""
    name, cell, packets, count = take(words, 4)
    counter = session.program.object("counter", name)
    at = index(cell, "index")
    _check_cell("counter", counter.name, counter.size, at)
    return (WriteCounter(counter.name, at, index(packets, "packets"), index(count, "bytes")),)


def counter_reset(words: list[str], session: Session) -> Outcome:
    """`counter_reset COUNTER`"""
    counter = session.program.object("counter", take(words, 1)[0])
    return (WriteCounter(counter.name, None, 0, 0),)


def meter_set_rates(words: list[str], session: Session) -> Outcome:
    """`meter_set_rates METER INDEX RATE:BURST RATE:BURST`"""
    name, cell, *rates = take(words, 2, MANY)
    meter = session.program.object("meter", name)
    at = index(cell, "index")
    _check_cell("meter", meter.name, meter.size, at)
    return (SetMeter(meter.name, at, *_rates(rates)),)


def meter_array_set_rates(words: list[str], session: Session) -> Outcome:
    """`meter_array_set_rates METER RATE:BURST RATE:BURST`"""
    name, *rates = take(words, 1, MANY)
    meter = session.program.object("meter", name)
    if meter.size is None:
        raise ControlError(f"meter {meter.name} belongs to a table: set the rates of each entry")
    spec = _rates(rates)
    return tuple(SetMeter(meter.name, at, *spec) for at in range(meter.size))


def meter_get_rates(words: list[str], session: Session) -> Outcome:
    """`meter_get_rates METER INDEX`"""
    name, cell = take(words, 2)
    meter = session.program.object("meter", name)
    return (Query("meter", meter.name, index(cell, "index")),)


def value_set_add(words: list[str], _session: Session) -> Outcome:
    """`pvs_add VALUE_SET VALUE`"""
    name, value = take(words, 2)
    return (AddToValueSet(name, number(value, "value")),)


def _check_cell(what: str, name: str, size: int | None, at: int) -> None:
    if size is not None and at >= size:
        raise ControlError(f"{what} {name} has {size} cells, 0 to {size - 1}: there is no {at}")


def _rates(words: list[str]) -> tuple[int, int, int, int]:
    """Committed rate and burst, peak rate and burst, per second; bmv2's are per microsecond."""
    if len(words) != 2:
        raise UsageError(f"2 rates expected (committed, then peak), not {len(words)}")
    (cir, cbs), (pir, pbs) = map(_rate, words)
    if pir < cir:
        raise ControlError(f"the peak rate {words[1]} is below the committed rate {words[0]}")
    return cir, cbs, pir, pbs


def _rate(word: str) -> tuple[int, int]:
    rate, colon, burst = word.partition(":")
    try:
        per_second = Fraction(rate) * 10**6
    except (ValueError, ZeroDivisionError):
        raise UsageError(f"{word} is not RATE:BURST (units per microsecond : units)") from None
    if not colon or per_second < 0:
        raise UsageError(f"{word} is not RATE:BURST (units per microsecond : units)")
    return round(per_second), index(burst, "burst")
