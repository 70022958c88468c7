"""Writes ``src/twinlog/wire/kafka/messages`` from ``spec/kafka``.

    python -m codegen.generate_kafka [target directory]

One module per API: slotted classes (the fields of all versions together) and the layout table that the kernel reads.
The result is committed; a test regenerates it and compares.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from codegen.kafka_spec import NEVER, Field, Message, Room, Struct, read_rooms

ROOT = Path(__file__).resolve().parent.parent
PYTHON_TYPES = {
    "bool": "bool",
    "int8": "int",
    "int16": "int",
    "uint16": "int",
    "int32": "int",
    "int64": "int",
    "float64": "float",
    "uuid": "bytes",
    "string": "str",
    "bytes": "bytes",
    "records": "Records",
}
EMPTY = {"bool": "False", "float64": "0.0", "uuid": "ZERO_UUID", "string": '""', "bytes": 'b""', "records": "None"}
LINE_MAX = 120


def python_type(field: Field) -> str:
    text = PYTHON_TYPES.get(field.type, field.type)
    if field.array:
        text = f"list[{text}]"
    if (field.nullable or field.default == "null" or may_be_absent(field)) and text != "Records":
        text += " | None"
    return text


def may_be_absent(field: Field) -> bool:
    """A tagged struct: None says that it is not on the wire, which spares an object per partition."""
    return field.is_struct and not field.array and field.tag is not None and field.nullable is None


def default(field: Field) -> str:
    """The default as Python; FRESH is a new list or a new struct each time."""
    written = field.default
    if written == "null" or may_be_absent(field):
        return "None"
    if field.array or field.is_struct:
        return "FRESH"
    if written is None:
        return EMPTY.get(field.type, "0")
    return {"true": "True"}.get(written, written)


def layout_row(field: Field) -> list[str]:
    nullable = field.nullable or (0, -1)
    kind = "struct" if field.is_struct else field.type
    cells = [
        f'"{field.name}"',
        f'"{"[]" if field.array else ""}{kind}"',
        field.type if field.is_struct else "None",
        str(field.versions[0]),
        str(field.versions[1]),
        str(nullable[0]),
        str(nullable[1]),
        str(-1 if field.tag is None else field.tag),
        str(field.ignorable),
        default(field),
    ]
    line = f"({', '.join(cells)})"
    if 8 + len(line) + 1 <= LINE_MAX:
        return [line + ","]
    return ["(", *(f"    {cell}," for cell in cells), "),"]


def class_tuple(name: str, lines: list[str], count: int) -> list[str]:
    """A tuple in a class, one item a line; on one line when it has a single item, as the formatter wants it."""
    if count <= 1 and len(lines) <= 1:
        line = f"    {name} = ({''.join(lines)})"
        if len(line) <= LINE_MAX:
            return [line]
    return [f"    {name} = (", *(f"        {line}" for line in lines), "    )"]


def constructor(struct: Struct) -> list[str]:
    if not struct.fields:
        return []
    lines = ["    def __init__(", "        self,", "        *,"]
    lines += [f"        {field.name}: {python_type(field)} = {default(field)}," for field in struct.fields]
    lines.append("    ) -> None:")
    for field in struct.fields:
        value = field.name
        if default(field) == "FRESH":
            fresh = "[]" if field.array else f"{field.type}()"
            value = f"{fresh} if {field.name} is FRESH else {field.name}"
        target = f"        self.{field.name}: {python_type(field)} = "
        if len(target) + len(value) <= LINE_MAX:
            lines.append(target + value)
        else:
            lines += [f"{target}(", f"            {value}", "        )"]
    return lines


def class_lines(struct: Struct, message: Message, key: int) -> list[str]:
    top = struct.name == message.name
    lines = ["", "", f"class {struct.name}({'Message' if top else 'Struct'}):"]
    count = len(struct.fields)
    lines += class_tuple("__slots__", sorted(f'"{field.name}",' for field in struct.fields), count)
    if top:
        lines.append(f"    KEY = {key if key >= 0 else message.number}")
        lines.append(f"    VERSIONS = ({message.versions[0]}, {message.versions[1]})")
        flexible = "NEVER" if message.flexible_from == NEVER else str(message.flexible_from)
        lines.append(f"    FLEXIBLE_FROM = {flexible}")
    lines += class_tuple("LAYOUT", [line for field in struct.fields for line in layout_row(field)], count)
    init = constructor(struct)
    return [*lines, "", *init] if init else lines


def module_text(room: Room) -> str:
    body: list[str] = []
    for message in room.messages:
        for struct in message.structs:
            body += class_lines(struct, message, room.key)
    records = [message for message in room.messages if message.kind in ("key", "value")]
    if records:
        by_type: dict[int, list[str]] = {}
        for message in records:
            by_type.setdefault(message.number, []).append(message.name)
        body += ["", "", "RECORDS: dict[int, tuple[type[Message], type[Message]]] = {"]
        body += [f"    {number}: ({', '.join(names)})," for number, names in by_type.items()]
        body.append("}")
    used = "\n".join(body)
    words = set(re.findall(r"\w+", used))
    names = [name for name in ("FRESH", "NEVER", "ZERO_UUID", "Message", "Records", "Struct") if name in words]
    what = f"API {room.key}, {room.title}" if room.key >= 0 else room.title.capitalize()
    head = [
        f'"""{what}.',
        "",
        f"Made from spec/kafka/{room.file}.txt by codegen/generate_kafka.py: change it there.",
        '"""',
        "",
        "from __future__ import annotations",
        "",
        f"from twinlog.wire.kafka.message import {', '.join(names)}",
    ]
    return "\n".join([*head, *body]) + "\n"


def front_text(rooms: list[Room]) -> str:
    lines = [
        '"""Every message by its name; a module is imported when one of its names is first asked for.',
        "",
        "Made from spec/kafka by codegen/generate_kafka.py.",
        '"""',
        "",
        "from __future__ import annotations",
        "",
        "from importlib import import_module",
        "from typing import TYPE_CHECKING, Any",
        "",
        "if TYPE_CHECKING:",
    ]
    by_file = sorted(rooms, key=lambda room: room.file)
    lines += [f"    from twinlog.wire.kafka.messages.{room.file} import *  # noqa: F403" for room in by_file]
    lines += ["", "# Key: (name, module, oldest version, newest version, first flexible version)."]
    lines.append("APIS: dict[int, tuple[str, str, int, int, int]] = {")
    for room in rooms:
        if room.key >= 0:
            first, last = room.messages[0].versions
            flexible = min(room.messages[0].flexible_from, 255)
            lines.append(f'    {room.key}: ("{room.title}", "{room.file}", {first}, {last}, {flexible}),')
    lines += ["}", "", "_MODULES = {"]
    for room in by_file:
        lines += [f'    "{name}": "{room.file}",' for name in sorted_names(room)]
    lines += [
        "}",
        "",
        "",
        "def __getattr__(name: str) -> Any:",
        "    module = _MODULES.get(name)",
        "    if module is None:",
        '        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")',
        '    found = getattr(import_module(f"{__name__}.{module}"), name)',
        "    globals()[name] = found",
        "    return found",
        "",
        "",
        "def __dir__() -> list[str]:",
        "    return [*globals(), *_MODULES]",
    ]
    return "\n".join(lines) + "\n"


def sorted_names(room: Room) -> list[str]:
    return sorted(struct.name for message in room.messages for struct in message.structs)


def generate(spec: Path, target: Path) -> dict[Path, str]:
    """File to text, for everything that is made."""
    rooms = read_rooms(spec)
    files = {target / f"{room.file}.py": module_text(room) for room in rooms}
    files[target / "__init__.py"] = front_text(rooms)
    return files


def main() -> None:
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "src/twinlog/wire/kafka/messages"
    target.mkdir(parents=True, exist_ok=True)
    files = generate(ROOT / "spec/kafka", target)
    for stale in set(target.glob("*.py")) - set(files):
        stale.unlink()
    for path, text in files.items():
        path.write_text(text, encoding="utf-8")
    print(f"{len(files)} files in {target}")


if __name__ == "__main__":
    main()
