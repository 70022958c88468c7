"""Reads the message definitions of ``spec/kafka`` (see the README there for the form)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

NEVER = 32767  # as "first flexible version"
SCALARS = ("bool", "int8", "int16", "uint16", "int32", "int64", "float64", "uuid", "string", "bytes", "records")

HEAD = re.compile(r"(request|response|key|value|data)(?: (\d+))? (\w+) (\d+\+?(?:-\d+)?)(?: flexible (\d+)\+)?")
FIELD = re.compile(
    r"(?P<name>[a-z0-9_]+): (?P<array>\[\])?(?P<type>\w+)(?P<null>\?(?P<null_range>[\d+-]+)?)?"
    r"(?: = (?P<default>\"[^\"]*\"|\S+))?(?: @(?P<range>[\d+-]+))?(?: tag (?P<tag>\d+))?(?P<ignorable> ignorable)?"
)


@dataclass(slots=True)
class Field:
    name: str
    type: str  # one of SCALARS, or the name of a struct
    array: bool
    versions: tuple[int, int]
    nullable: tuple[int, int] | None
    default: str | None  # as written; None when nothing is written
    tag: int | None
    ignorable: bool

    @property
    def is_struct(self) -> bool:
        return self.type not in SCALARS


@dataclass(slots=True)
class Struct:
    name: str
    fields: list[Field] = field(default_factory=list)


@dataclass(slots=True)
class Message:
    kind: str  # request, response, key, value or data
    number: int  # the record type of a key or value, else -1
    name: str
    versions: tuple[int, int]
    flexible_from: int
    # Inner ones before those that hold them; the message itself is the last.
    structs: list[Struct] = field(default_factory=list)


@dataclass(slots=True)
class Room:
    """One file of the spec."""

    file: str
    title: str
    key: int  # of the API, -1 for the others
    messages: list[Message] = field(default_factory=list)


class SpecError(Exception):
    """The text does not keep to the form."""


def parse_range(text: str, newest: int) -> tuple[int, int]:
    if text.endswith("+"):
        return int(text[:-1]), newest
    first, _, last = text.partition("-")
    return int(first), int(last or first)


def read_room(path: Path) -> Room:
    lines = path.read_text(encoding="utf-8").splitlines()
    title = lines[0].split(" ", 2)
    if title[0] == "api":
        room = Room(path.stem, title[2], int(title[1]))
    else:
        room = Room(path.stem, lines[0], -1)
    block: list[str] = []
    for number, line in enumerate([*lines[1:], ""], 2):
        if line.strip():
            block.append(line.rstrip())
        elif block:
            try:
                room.messages.append(read_message(block))
            except (SpecError, ValueError) as fault:
                raise SpecError(f"{path.name}, above line {number}: {fault}") from fault
            block = []
    return room


def read_message(block: list[str]) -> Message:
    head = HEAD.fullmatch(block[0])
    if head is None:
        raise SpecError(f"not the head of a message: {block[0]!r}")
    kind, number, name, versions_text, flexible = head.groups()
    versions = parse_range(versions_text, -1)
    message = Message(kind, int(number or -1), name, versions, int(flexible) if flexible else NEVER)
    structs: dict[str, Struct] = {}
    # (indent of the fields, struct they belong to, versions in which that struct is there)
    open_structs: list[tuple[int, Struct, tuple[int, int]]] = [(1, Struct(name), versions)]
    structs[name] = open_structs[0][1]
    last_field: Field | None = None
    for line in block[1:]:
        text = line.lstrip()
        indent = (len(line) - len(text)) // 2
        if indent == 1 and text.startswith("struct "):
            common = Struct(text.removeprefix("struct "))
            add_struct(structs, common)
            open_structs = [(1, structs[name], versions), (2, common, versions)]
            last_field = None
            continue
        if indent > open_structs[-1][0] and last_field is not None and last_field.is_struct:
            inner = Struct(last_field.type)
            add_struct(structs, inner)
            open_structs.append((indent, inner, last_field.versions))
        while indent < open_structs[-1][0]:
            open_structs.pop()
        if indent != open_structs[-1][0]:
            raise SpecError(f"indented to nowhere: {line!r}")
        last_field = read_field(text, open_structs[-1][2], versions[1])
        open_structs[-1][1].fields.append(last_field)
    message.structs = in_order(structs, name)
    return message


def add_struct(structs: dict[str, Struct], struct: Struct) -> None:
    if struct.name in structs:
        raise SpecError(f"{struct.name} is defined twice")
    structs[struct.name] = struct


def read_field(text: str, outer: tuple[int, int], newest: int) -> Field:
    found = FIELD.fullmatch(text)
    if found is None:
        raise SpecError(f"not a field: {text!r}")
    versions = parse_range(found["range"], newest) if found["range"] else outer
    nullable = None
    if found["null"]:
        nullable = parse_range(found["null_range"], newest) if found["null_range"] else versions
    tag = int(found["tag"]) if found["tag"] else None
    return Field(
        name=found["name"],
        type=found["type"],
        array=bool(found["array"]),
        versions=versions,
        nullable=nullable,
        default=found["default"],
        tag=tag,
        ignorable=bool(found["ignorable"]),
    )


def in_order(structs: dict[str, Struct], top: str) -> list[Struct]:
    """Every struct after the ones it holds, so that each can be written down before it is named."""
    done: dict[str, Struct] = {}

    def visit(name: str) -> None:
        if name in done:
            return
        if name not in structs:
            raise SpecError(f"no struct {name}")
        for each in structs[name].fields:
            if each.is_struct:
                visit(each.type)
        done[name] = structs[name]

    visit(top)
    unused = set(structs) - set(done)
    if unused:
        raise SpecError(f"never used: {sorted(unused)}")
    return list(done.values())


def read_rooms(directory: Path) -> list[Room]:
    """All files, APIs by key first; struct names are unique over all of them."""
    rooms = [read_room(path) for path in sorted(directory.glob("*.txt"))]
    seen: dict[str, str] = {}
    for room in rooms:
        for message in room.messages:
            for struct in message.structs:
                if struct.name in seen:
                    raise SpecError(f"{struct.name} stands in {seen[struct.name]} and in {room.file}")
                seen[struct.name] = room.file
    return sorted(rooms, key=lambda room: (room.key < 0, room.key, room.file))
