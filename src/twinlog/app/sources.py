"""Where settings come from: defaults, then a TOML file, then TWINLOG_* variables, then the command line.

The later source wins, and every value remembers its source, so that ``config show`` and each error can name it.
A name that is not a setting is an error in the file and on the command line. In the environment it is a warning
only: container platforms add variables of their own behind a service's name.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from twinlog.app.settings import ENTRIES, FLAGS, NodeSettings
from twinlog.base.settings import BadSetting

FILE_VARIABLE: Final = "TWINLOG_SETTINGS"
# Ours, but no settings: they tell commands where a broker is, and who asks.
OTHER_VARIABLES: Final = (FILE_VARIABLE, "TWINLOG_BOOTSTRAP", "TWINLOG_HTTP", "TWINLOG_USER")
DEFAULT: Final = "default"


class SettingsError(Exception):
    """A setting that cannot be used; the text names the source, the value and what would do."""


@dataclass(slots=True)
class Choice:
    """The settings as chosen: values by key, the source of each, and what to tell the operator at start."""

    values: dict[str, Any] = field(
        default_factory=lambda: {key: entry.setting.default for key, entry in ENTRIES.items()}
    )
    sources: dict[str, str] = field(default_factory=lambda: dict.fromkeys(ENTRIES, DEFAULT))
    warnings: list[str] = field(default_factory=list)

    def put(self, key: str, value: Any, source: str) -> None:
        """Takes a value over what earlier sources said. Texts are read as their type; others must have it."""
        entry = ENTRIES.get(key)
        if entry is None:
            raise SettingsError(f"{source}: there is no setting {key}{nearest(key, ENTRIES)}")
        try:
            self.values[key] = entry.setting.check(value)
        except BadSetting as bad:
            raise SettingsError(f"{source}: {key}: {bad}") from None
        self.sources[key] = source

    def put_text(self, key: str, text: str, source: str) -> None:
        entry = ENTRIES.get(key)
        if entry is None:
            raise SettingsError(f"{source}: there is no setting {key}{nearest(key, ENTRIES)}")
        try:
            self.put(key, entry.setting.read(text), source)
        except BadSetting as bad:
            raise SettingsError(f"{source}: {key}: {bad}") from None

    def settings(self) -> NodeSettings:
        groups: dict[str, dict[str, Any]] = {}
        for key, entry in ENTRIES.items():
            groups.setdefault(entry.group, {})[entry.setting.name] = self.values[key]
        plain = NodeSettings()
        changed = {name: dataclasses.replace(getattr(plain, name), **values) for name, values in groups.items()}
        return dataclasses.replace(plain, **changed)


def choose(
    *, file: str | None, environment: Mapping[str, str], flags: Mapping[str, str], assignments: Iterable[str] = ()
) -> Choice:
    """All sources together. ``flags`` maps words of ``FLAGS`` to texts, ``assignments`` are ``section.name=value``."""
    choice = Choice()
    named = file or environment.get(FILE_VARIABLE)
    if named:
        put_file(choice, named)
    put_environment(choice, environment)
    for flag, text in flags.items():
        choice.put_text(FLAGS[flag], text, f"command line {flag}")
    for assignment in assignments:
        key, equals, text = assignment.partition("=")
        if not equals:
            raise SettingsError(f"command line --set {assignment}: write it as section.name=value")
        choice.put_text(key.strip(), text, "command line --set")
    return choice


def put_file(choice: Choice, path: str) -> None:
    import tomllib

    source = f"file {path}"
    try:
        with open(path, "rb") as file:
            sections = tomllib.load(file)
    except OSError as fault:
        raise SettingsError(f"{source}: cannot be read: {fault.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as fault:
        raise SettingsError(f"{source}: is not TOML: {fault}") from None
    for name, section in sections.items():
        if not isinstance(section, dict):
            raise SettingsError(f"{source}: {name} stands outside a section; write it below a line like [node]")
        for key, value in section.items():
            choice.put(f"{name}.{key}", value, source)


def put_environment(choice: Choice, environment: Mapping[str, str]) -> None:
    variables = {entry.variable: key for key, entry in ENTRIES.items()}
    for variable in sorted(environment):
        if not variable.startswith("TWINLOG_") or variable in OTHER_VARIABLES:
            continue
        if variable in variables:
            choice.put_text(variables[variable], environment[variable], f"environment {variable}")
        else:
            choice.warnings.append(f"the variable {variable} is no setting of ours{nearest(variable, variables)}")


def nearest(name: str, known: Iterable[str]) -> str:
    import difflib

    near = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    return f"; did you mean {near[0]}?" if near else ""
