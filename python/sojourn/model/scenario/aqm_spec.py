"""An AQM as a scenario chooses it: a name, or a name with options and parameters.

Depends on the register of the native disciplines' parameters. Whether the name can be run is not
known here.
"""

from functools import cache
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    SerializeAsAny,
    ValidationError,
    create_model,
)
from pydantic_core import InitErrorDetails

from sojourn.model.hardware.modules import is_module
from sojourn.model.parameters import Discipline, Parameter, disciplines, hardware_module
from sojourn.model.programs import target_names
from sojourn.model.python_discipline import is_class
from sojourn.model.scenario.quantities import FilePath, Label, RegisterName, Strict, Time
from sojourn.model.session_aqms import spelled_out


def _target(name: str) -> str:
    if name not in target_names():
        raise ValueError(f"{name}: it can be {' or '.join(target_names())}")
    return name


def _discipline(value: object) -> object:
    return None if value is None else choose(value)


class Ghost(Strict):
    """Reports of queue depths to the ghost thread of a program for Tofino 2. None of the figures is
    published; docs/tofino2.md names the sources of the defaults."""

    delay: Time = 1_000
    """From a change of a queue to the pass of the ghost thread."""
    interval: Time = 2
    """Least time between two reports."""
    waiting: Annotated[int, Field(ge=1, le=65_536)] = 16
    """Reports that wait for their turn; further ones are lost."""
    cells: Literal[1, 2] = 2
    """Cells of 176 bytes in one unit of `qlength`: 2 in the vendor's reference model, 1 in the
    compiler's tests."""
    order: Literal["compiler", "model"] = "compiler"
    """Bit order of the report's word: that of the compiler, or that of the reference model, which a
    compiled program misreads."""
    mode: Literal["any", "color"] = "any"
    """Changes that are reported: `any`, or `color`, those across a queue's limit for a colour."""


class AqmChoice(Strict):
    """One AQM to run, and how; `choose` makes it with the parameters of its discipline."""

    use: FilePath
    """A native discipline, a shipped program or hardware module, the path of a `.p4` or `.sv` file,
    or `FILE.py:CLASS`."""
    label: Label | None = None
    """Name in tables and figures."""
    architecture: Annotated[str, AfterValidator(_target)] | None = None
    """P4: what the program must be for; it says itself what it is for."""
    math_unit: Literal["vendor", "paper"] | None = None
    """P4: how the stateful ALU's math unit decides odd and even exponents."""
    executor: Literal["native", "interpreter"] | None = None
    """P4: what runs it: `native`, machine code of what packets come to often, unless it says
    `interpreter`; both do the same to the last bit."""
    include_paths: Annotated[list[FilePath], Field(default_factory=list)]
    """P4: where `#include` looks, as `-I`."""
    defines: Annotated[dict[str, str | int], Field(default_factory=dict)]
    """P4: macros, as `-D`."""
    control: FilePath | None = None
    """P4: control-plane file; by default the program's name with `.toml`."""
    discipline: Annotated[SerializeAsAny["AqmChoice"] | None, BeforeValidator(_discipline)] = None
    """P4, v1model: the native discipline in the queues under the program, as `use` names it; tail
    drop if absent."""
    ghost: Ghost | None = None
    """P4, Tofino 2: reports of queue depths to the program's ghost thread."""
    flow_control_delay: Time | None = None
    """P4, Tofino 2: from a deparser that writes `adv_flow_ctl` to the effect; by default 125 ns."""
    trace: Annotated[list[RegisterName], Field(default_factory=list, max_length=64)]
    """P4: registers whose values over time are recorded and drawn, by name or the end of one, as in
    `["codel.count", "codel.schedule[0..7]"]`; of a large one without cells those that change
    first."""

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of native disciplines that are given, as the engine takes them."""
        given = ((name, getattr(self, name)) for name in type(self).model_fields)
        return {
            name: value
            for name, value in given
            if value is not None and name not in AqmChoice.model_fields
        }


class PythonChoice(AqmChoice):
    """A class in Python. Its constructor's keywords are further keys; the plan checks them, because
    they are known only once the class is loaded."""

    model_config = ConfigDict(extra="allow")

    @property
    def parameters(self) -> dict[str, Any]:
        """The further keys, as the scenario writes them."""
        return dict(self.model_extra or {})


def choose(value: object) -> AqmChoice:
    """The choice that a scenario writes as `value`: a name, or a table with `use` and options."""
    if isinstance(value, AqmChoice):
        return value
    if isinstance(value, str):
        value = {"use": value}
    if isinstance(value, dict):
        value = spelled_out(value)
    use = value.get("use") if isinstance(value, dict) else None
    native = _native(use) if isinstance(use, str) else None
    model = _model(use, native)
    choice = model.model_validate(value)
    if native := _native(choice.use):
        _refuse_what_is_outside(native, choice, value)
    return choice


def _refuse_what_is_outside(native: Discipline, choice: AqmChoice, value: object) -> None:
    """The engine knows what is allowed; the message has to point to the key that is wrong."""
    outside = native.outside(choice.parameters)
    if outside is None:
        return
    parameter, number, reason = outside
    written = value.get(parameter.name) if isinstance(value, dict) else None
    details = InitErrorDetails(
        type="value_error",
        loc=(parameter.name,),
        input=parameter.kind.format(number) if written is None else written,
        ctx={"error": ValueError(reason)},
    )
    raise ValidationError.from_exception_data(choice.use, [details])


def _model(use: object, native: Discipline | None) -> type[AqmChoice]:
    if isinstance(use, str) and is_class(use):
        return PythonChoice
    return _model_of_anyones() if native is None else _model_of(native.name)


def _native(use: str) -> Discipline | None:
    if is_module(use):
        return hardware_module()
    return {discipline.name: discipline for discipline in disciplines()}.get(use)


def choice_keys(use: str) -> list[str]:
    """The keys that are allowed with `use`."""
    native = _native(use)
    if native is None:
        return list(AqmChoice.model_fields)
    return ["use", "label", *(parameter.name for parameter in native.parameters)]


@cache
def _model_of(use: str) -> type[AqmChoice]:
    """The model of a native discipline: its own parameters and the common keys."""
    (native,) = (one for one in [*disciplines(), hardware_module()] if one.name == use)
    return _with_fields(use, {p.name: _field(p) for p in native.parameters})


@cache
def _model_of_anyones() -> type[AqmChoice]:
    """Takes any discipline's parameters as they are: only whoever finds out what `use` means there
    can say whether the parameter or the name is the mistake."""
    names = sorted({p.name for discipline in disciplines() for p in discipline.parameters})
    return _with_fields("other", dict.fromkeys(names, Any))


def _field(parameter: Parameter) -> Any:
    kind = parameter.kind
    return Annotated[
        int, BeforeValidator(kind.parse), PlainSerializer(kind.format, when_used="json")
    ]


def _with_fields(name: str, types: dict[str, Any]) -> type[AqmChoice]:
    fields: dict[str, Any] = {key: (type_ | None, None) for key, type_ in types.items()}
    return create_model(f"AqmChoice_{name}", __base__=AqmChoice, **fields)


Choice = Annotated[SerializeAsAny[AqmChoice], BeforeValidator(choose)]
"""A choice as a key's value."""
