"""Changing the values of topics, brokers and groups."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from twinlog.base import Refused
from twinlog.cluster.errors import Reason
from twinlog.cluster.image import Image
from twinlog.cluster.kinds import configs
from twinlog.cluster.kinds.configs import ConfigsChanged
from twinlog.cluster.ports import Rules
from twinlog.cluster.record import Record
from twinlog.cluster.types import ConfigOp, ConfigOperation, ConfigsWanted, Decision, Outcome


def alter_configs(image: Image, wanted: Sequence[ConfigsWanted], rules: Rules) -> Decision[None]:
    """Each resource changes whole or not at all."""
    records: list[Record] = []
    outcomes: list[Outcome[None]] = []
    named = Counter((each.kind, each.name) for each in wanted)
    for each in wanted:
        try:
            if named[each.kind, each.name] > 1:
                raise Refused(Reason.INVALID_REQUEST, f"{each.kind} '{each.name}' is named more than once")
            record = _alter_resource(image, each, rules)
        except Refused as refused:
            outcomes.append(refused)
            continue
        if record is not None:
            records.append(record)
        outcomes.append(None)
    return Decision(records, outcomes)


def _alter_resource(image: Image, wanted: ConfigsWanted, rules: Rules) -> ConfigsChanged | None:
    _check_resource(image, wanted)
    names = [each.name for each in wanted.operations]
    if len(set(names)) != len(names):
        raise Refused(Reason.INVALID_REQUEST, "a config is named twice")
    before = image.configs.of(wanted.kind, wanted.name)
    after: dict[str, str] = {} if wanted.replace else dict(before)
    for operation in wanted.operations:
        _carry_out(after, operation, wanted.kind, rules)
    changed = {name: value for name, value in after.items() if before.get(name) != value}
    removed = tuple(name for name in before if name not in after)
    for name in changed:
        fault = rules.config_change_fault(wanted.kind, wanted.name, name)
        if fault is not None:
            raise Refused(Reason.INVALID_REQUEST, fault)
    fault = rules.config_fault(wanted.kind, after)
    if fault is not None:
        code = Reason.INVALID_REQUEST if wanted.kind == configs.BROKER else Reason.INVALID_CONFIG
        raise Refused(code, fault)
    if not changed and not removed:
        return None
    return ConfigsChanged(wanted.kind, wanted.name, changed, removed)


def _check_resource(image: Image, wanted: ConfigsWanted) -> None:
    if wanted.kind != configs.BROKER and not wanted.name:
        raise Refused(Reason.INVALID_REQUEST, f"a {wanted.kind} has a name; there are no defaults for all of them")
    if wanted.kind == configs.TOPIC and wanted.name not in image.topics_by_name:
        raise Refused(Reason.UNKNOWN_TOPIC_OR_PARTITION, f"there is no topic '{wanted.name}'")
    if wanted.kind == configs.BROKER and wanted.name and wanted.name not in map(str, image.brokers):
        raise Refused(Reason.INVALID_REQUEST, f"there is no broker '{wanted.name}'")


def _carry_out(values: dict[str, str], operation: ConfigOp, kind: str, rules: Rules) -> None:
    name = operation.name
    if operation.operation == ConfigOperation.DELETE:
        values.pop(name, None)
        return
    if operation.operation not in (ConfigOperation.SET, ConfigOperation.APPEND, ConfigOperation.SUBTRACT):
        raise Refused(Reason.INVALID_REQUEST, f"operation {operation.operation} on config '{name}' is not known")
    if operation.value is None:
        raise Refused(Reason.INVALID_REQUEST, f"config '{name}' has no value")
    if operation.operation == ConfigOperation.SET:
        values[name] = operation.value
        return
    if not rules.config_is_list(kind, name):
        raise Refused(Reason.INVALID_CONFIG, f"config '{name}' is not a list: it can only be set or deleted")
    items = _items(_current(values, name, kind, rules))
    given = _items(operation.value)
    if operation.operation == ConfigOperation.APPEND:
        items += [item for item in dict.fromkeys(given) if item not in items]
    else:
        items = [item for item in items if item not in given]
    values[name] = ",".join(items)


def _current(values: Mapping[str, str], name: str, kind: str, rules: Rules) -> str:
    value = values.get(name)
    return value if value is not None else rules.config_default(kind, name) or ""


def _items(value: str) -> list[str]:
    return [item.strip() for item in value.split(",") if item.strip()]
