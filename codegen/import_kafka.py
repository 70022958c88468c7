"""Reads Kafka's message definitions out of its jars and writes them in our own short form to ``spec/kafka``.

    python -m codegen.import_kafka JAR [JAR ...] spec/kafka

Run by hand when a new Kafka comes out; the differences are then read by a human before they are kept. Facts only are
taken (names, types, versions, defaults, tags), and only of what a client may send to a broker or a coordinator stores.
"""

from __future__ import annotations

import json
import re
import sys
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Json = dict[str, Any]

# Spoken between brokers only, although their listener is the broker's: the state of share groups.
BETWEEN_BROKERS = range(83, 88)
LOOSE_MESSAGES = {
    "consumer_protocol": ["ConsumerProtocolSubscription", "ConsumerProtocolAssignment"],
    "control_records": ["ControlRecordTypeSchema", "EndTxnMarker"],
}
LATEST = 32767


def read_definitions(jars: list[str]) -> Iterator[tuple[str, Json]]:
    """Yields (jar name, definition); the definitions are JSON with line comments."""
    for jar in jars:
        with zipfile.ZipFile(jar) as archive:
            for name in sorted(archive.namelist()):
                if name.startswith("common/message/") and name.endswith(".json"):
                    text = archive.read(name).decode()
                    text = re.sub(r"(?m)^\s*//.*$", "", text)
                    text = re.sub(r'(?m)\s//[^"]*$', "", text)
                    yield Path(jar).name, json.loads(text)


def snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def version_range(text: str) -> tuple[int, int]:
    if text in ("none", ""):
        return 1, 0
    if text.endswith("+"):
        return int(text[:-1]), LATEST
    first, _, last = text.partition("-")
    return int(first), int(last or first)


def clip(inner: tuple[int, int], outer: tuple[int, int]) -> tuple[int, int]:
    return max(inner[0], outer[0]), min(inner[1], outer[1])


def range_text(versions: tuple[int, int], newest: int) -> str:
    first, last = versions
    if last >= newest:
        return f"{first}+"
    return str(first) if first == last else f"{first}-{last}"


def is_struct(type_name: str) -> bool:
    return type_name.removeprefix("[]")[0].isupper()


def struct_names(fields: list[Json]) -> set[str]:
    found = set()
    for field in fields:
        if is_struct(field["type"]):
            found.add(field["type"].removeprefix("[]"))
        found |= struct_names(field.get("fields", []))
    return found


def all_struct_names(message: Json) -> set[str]:
    found = struct_names(message.get("fields", []))
    for common in message.get("commonStructs", []):
        found |= {common["name"]} | struct_names(common["fields"])
    return found


def own_name(message: str, struct: str) -> str:
    """A name for a struct whose own name stands in several messages: the message's name in front, said once."""
    stem = re.sub(r"(Request|Response)$", "", message)
    words = re.findall(r"[A-Z][a-z0-9]*", struct)
    for count in range(len(words) - 1, 0, -1):
        if stem.endswith("".join(words[:count])):
            words = words[count:]
            break
    if len(words) > 1 and words[-1] in ("Request", "Response") and message.endswith(words[-1]):
        words.pop()
    return message + "".join(words)


class Writer:
    """Turns one message definition into lines of our form."""

    def __init__(self, message: Json, shared_names: set[str]) -> None:
        self.message = message
        self.shared_names = shared_names
        self.valid = version_range(message["validVersions"])
        self.common = {common["name"] for common in message.get("commonStructs", [])}

    def struct_name(self, name: str) -> str:
        return own_name(self.message["name"], name) if name in self.shared_names else name

    def lines(self, kind: str) -> list[str]:
        flexible = clip(version_range(self.message["flexibleVersions"]), self.valid)
        head = f"{kind} {self.message['name']} {range_text(self.valid, LATEST)}"
        if flexible[0] <= flexible[1]:
            head += f" flexible {flexible[0]}+"
        lines = [head, *self.field_lines(self.message["fields"], self.valid, 1)]
        for common in self.message.get("commonStructs", []):
            lines.append(f"  struct {self.struct_name(common['name'])}")
            lines += self.field_lines(common["fields"], self.valid, 2)
        return lines

    def field_lines(self, fields: list[Json], outer: tuple[int, int], depth: int) -> list[str]:
        lines = []
        for field in fields:
            versions = clip(version_range(field.get("versions") or field["taggedVersions"]), outer)
            if versions[0] > versions[1]:
                continue  # it was only in versions that nobody speaks any more
            lines.append("  " * depth + self.field_line(field, versions, outer))
            lines += self.field_lines(field.get("fields", []), versions, depth + 1)
        return lines

    def field_line(self, field: Json, versions: tuple[int, int], outer: tuple[int, int]) -> str:
        type_name = field["type"]
        if is_struct(type_name):
            bare = type_name.removeprefix("[]")
            type_name = type_name.replace(bare, self.struct_name(bare))
        newest = self.valid[1]
        nullable = clip(version_range(field.get("nullableVersions", "none")), versions)
        if nullable == versions:
            type_name += "?"
        elif nullable[0] <= nullable[1]:
            type_name += f"?{range_text(nullable, newest)}"
        words = [f"{snake(field['name'])}: {type_name}"]
        default = self.default_text(field)
        if default:
            words.append(f"= {default}")
        if versions != outer:
            words.append(f"@{range_text(versions, newest)}")
        if "tag" in field:
            words.append(f"tag {field['tag']}")
        if field.get("ignorable") and versions != self.valid:
            words.append("ignorable")
        return " ".join(words)

    def default_text(self, field: Json) -> str:
        """Empty when the default is what the type would have anyway."""
        default = field.get("default")
        kind = field["type"]
        if default is None:
            return ""  # Kafka takes JSON's null for "nothing said", not for null
        if default == "null":
            return "null"
        if kind == "bool":
            return "true" if str(default).lower() == "true" else ""
        if kind.startswith(("int", "uint")):
            number = int(str(default), 0)
            return str(number) if number else ""
        assert kind == "string", field
        return f'"{default}"' if default else ""


def import_all(jars: list[str], target: Path) -> None:
    definitions = [(jar, message) for jar, message in read_definitions(jars) if message["validVersions"] != "none"]
    by_name = {message["name"]: message for _, message in definitions}
    apis: dict[int, dict[str, Json]] = {}
    records: dict[str, dict[int, dict[str, Json]]] = {"group_records": {}, "transaction_records": {}}
    kept: list[Json] = [by_name[name] for names in LOOSE_MESSAGES.values() for name in names]
    for jar, message in definitions:
        kind, key = message["type"], message.get("apiKey", -1)
        if kind in ("request", "response"):
            request = message if kind == "request" else by_name[message["name"].replace("Response", "Request")]
            if "broker" in request["listeners"] and key not in BETWEEN_BROKERS:
                apis.setdefault(key, {})[kind] = message
                kept.append(message)
        elif kind.startswith("coordinator-"):
            room = "group_records" if "group" in jar else "transaction_records"
            records[room].setdefault(key, {})[kind.removeprefix("coordinator-")] = message
            kept.append(message)
    counts = Counter(name for message in kept for name in all_struct_names(message))
    shared_names = {name for name, count in counts.items() if count > 1}

    target.mkdir(parents=True, exist_ok=True)
    for key, pair in sorted(apis.items()):
        name = pair["request"]["name"].removesuffix("Request")
        text = [f"api {key} {name}"]
        for kind in ("request", "response"):
            text += ["", *Writer(pair[kind], shared_names).lines(kind)]
        write(target / f"{snake(name)}.txt", text)
    for room, by_type in records.items():
        text = [room.replace("_", " ")]
        for key, pair in sorted(by_type.items()):
            for kind in ("key", "value"):
                text += ["", *Writer(pair[kind], shared_names).lines(f"{kind} {key}")]
        write(target / f"{room}.txt", text)
    for room, names in LOOSE_MESSAGES.items():
        text = [room.replace("_", " ")]
        for name in names:
            text += ["", *Writer(by_name[name], shared_names).lines("data")]
        write(target / f"{room}.txt", text)


def write(path: Path, lines: list[str]) -> None:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    import_all(sys.argv[1:-1], Path(sys.argv[-1]))
