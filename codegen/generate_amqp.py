"""Makes ``src/twinlog/wire/amqp/methods.py`` from ``spec/amqp/methods.txt``.

Usage: python -m codegen.generate_amqp [REPOSITORY]
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import NamedTuple

METHOD = re.compile(r"^  (\d+) (\w+)( sync)? \((.*)\)$")
PYTHON = {
    "bit": ("bool", "False"),
    "octet": ("int", "0"),
    "short": ("int", "0"),
    "long": ("int", "0"),
    "longlong": ("int", "0"),
    "timestamp": ("int", "0"),
    "shortstr": ("str", '""'),
    "longstr": ("bytes", 'b""'),
    "table": ("Table", "NO_TABLE"),
}
HEAD = '''"""Every AMQP method as a class.

Made from spec/amqp/methods.txt by codegen/generate_amqp.py: change it there.
"""

from __future__ import annotations

from twinlog.wire.amqp.method import NO_TABLE, Method, Table

'''


class Spec(NamedTuple):
    class_id: int
    method_id: int
    name: str
    is_sync: bool
    arguments: list[tuple[str, str]]


def read(text: str) -> list[Spec]:
    specs: list[Spec] = []
    class_id, class_name = 0, ""
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        if line.startswith("class "):
            _, number, class_name = line.split()
            class_id = int(number)
            continue
        found = METHOD.match(line)
        if found is None:
            raise SystemExit(f"not understood: {line!r}")
        number, name, sync, listed = found.groups()
        arguments = [tuple(part.split(": ")) for part in listed.split(", ")] if listed else []
        full = "".join(word.capitalize() for word in f"{class_name}_{name}".split("_"))
        specs.append(Spec(class_id, int(number), full, sync is not None, arguments))  # type: ignore[arg-type]
    return specs


def write(specs: list[Spec]) -> str:
    lines = [HEAD]
    for spec in specs:
        named = [(name, kind) for name, kind in spec.arguments if name != "reserved"]
        lines.append(f"\nclass {spec.name}(Method):\n")
        slots = ", ".join(f'"{name}"' for name in sorted(name for name, _ in named))
        lines.append(f"    __slots__ = ({slots}{',' if len(named) == 1 else ''})\n")
        lines.append(
            f"    CLASS_ID = {spec.class_id}\n    METHOD_ID = {spec.method_id}\n    IS_SYNC = {spec.is_sync}\n"
        )
        if spec.arguments:
            lines.append("    ARGUMENTS = (\n")
            lines += [f'        ("{name}", "{kind}"),\n' for name, kind in spec.arguments]
            lines.append("    )\n")
        else:
            lines.append("    ARGUMENTS = ()\n")
        if named:
            lines.append("\n    def __init__(\n        self,\n        *,\n")
            lines += [f"        {name}: {PYTHON[kind][0]} = {PYTHON[kind][1]},\n" for name, kind in named]
            lines.append("    ) -> None:\n")
            lines += [f"        self.{name} = {name}\n" for name, _ in named]
        lines.append("\n")
    lines.append(
        "\nMETHODS: dict[tuple[int, int], type[Method]] = {\n"
        "    (each.CLASS_ID, each.METHOD_ID): each\n    for each in (\n"
    )
    lines += [f"        {spec.name},\n" for spec in specs]
    lines.append("    )\n}\n")
    return "".join(lines)


def main() -> None:
    root = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    text = (root / "spec/amqp/methods.txt").read_text()
    (root / "src/twinlog/wire/amqp/methods.py").write_text(write(read(text)))


if __name__ == "__main__":
    main()
