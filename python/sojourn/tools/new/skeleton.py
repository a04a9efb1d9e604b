"""`sojourn new`: a program with its control plane, a scenario and packet tests, from templates.

The templates are whole files that run as they are; only the name is changed.
"""

import re
from pathlib import Path

from sojourn.common.atomic_write import write_text
from sojourn.common.resources import shown
from sojourn.common.suggest import did_you_mean
from sojourn.errors import OutputError, ScenarioError, output_error
from sojourn.model.programs import target_folders

_TEMPLATES = Path(__file__).parent / "templates"
_NAME = "my_aqm"
"""The name in the templates; its control is `MyAqm`."""
_FILES = {
    "program.p4": "{name}.p4",
    "control.toml": "{name}.toml",
    "test.stf": "{name}.stf",
    "../scenario.toml": "{name}-scenario.toml",
}


def architectures() -> list[str]:
    """The architectures that have templates, named as the folders of `p4/`."""
    return [folder for folder in target_folders() if (_TEMPLATES / folder).is_dir()]


def write_skeleton(name: str, target: str, out: Path | None = None) -> list[Path]:
    """Writes the files of the AQM `name` for `target`, one of `architectures()`, into the folder
    `out`, by default one of its name; returns them.

    `ScenarioError` for a name or target that is none, `OutputError` if one of them is there.
    """
    known = architectures()
    if target not in known:
        allowed = " or ".join(known)
        raise ScenarioError(f"--for {target}: it can be {allowed}{did_you_mean(target, known)}")
    if not re.fullmatch(r"[a-z][a-z0-9_]{0,40}", name):
        raise ScenarioError(
            f"{name[:60]!r}: a name is a small letter, then small letters, digits and _, "
            "as in my_aqm; a P4 control, its files and its label are called by it"
        )
    folder = out or Path(name)
    paths = [folder / file.format(name=name) for file in _FILES.values()]
    if there := [shown(path) for path in paths if path.exists()]:
        raise OutputError(f"{', '.join(there)}: there already; nothing was written")
    camel = "".join(part.capitalize() for part in name.split("_"))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for template, path in zip(_FILES, paths, strict=True):
            text = (_TEMPLATES / target / template).read_text(encoding="utf-8")
            write_text(path, text.replace(_NAME, name).replace("MyAqm", camel))
    except OSError as error:
        raise output_error(error, shown(folder)) from error
    return paths
