"""Reads Python sources for what ``rules`` refuse."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.tidy.rules import BANNED_CALLS, BANNED_MODULES_IN_PURE, MACHINE, PURE, Finding


def is_pure(room_path: str) -> bool:
    """``room_path`` is relative to src/twinlog, with forward slashes."""
    return room_path.split("/")[0] in PURE or "core" in room_path.split("/")[:-1]


def is_machine(room_path: str) -> bool:
    return any(room_path.startswith(f"{room}/") for room in MACHINE)


def banned_imports(room_path: str, tree: ast.Module) -> Iterator[Finding]:
    if not is_pure(room_path):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            modules = [node.module or ""]
        else:
            continue
        for module in modules:
            instead = BANNED_MODULES_IN_PURE.get(module.split(".")[0])
            if instead:
                yield Finding(room_path, node.lineno, f"a pure room imports {module}; use {instead}")


def banned_calls(room_path: str, tree: ast.Module) -> Iterator[Finding]:
    if is_machine(room_path):
        return
    meaning = imported_names(tree)
    own = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = dotted(node.func)
            if not name or name.split(".")[0] in own:
                continue
            first, _, rest = name.partition(".")
            full = meaning.get(first, first) + (f".{rest}" if rest else "")
            instead = BANNED_CALLS.get(full) or BANNED_CALLS.get(full.split(".")[0] + ".*")
            if instead:
                yield Finding(room_path, node.lineno, f"{full}() is banned; use {instead}")


def imported_names(tree: ast.Module) -> dict[str, str]:
    """Local name -> what it stands for, so that ``from time import time as t`` hides nothing."""
    meaning: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                local = alias.asname or alias.name.split(".")[0]
                meaning[local] = alias.name if alias.asname else local
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            for alias in node.names:
                meaning[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return meaning


def dotted(node: ast.expr) -> str:
    """``a.b.c`` of a chain of plain names, else nothing."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    return ".".join([node.id, *reversed(parts)])


def scan(room_path: str, source: str) -> list[Finding]:
    tree = ast.parse(source)
    return [*banned_imports(room_path, tree), *banned_calls(room_path, tree)]


def sources(root: Path) -> Iterator[tuple[str, str]]:
    """Every module of the package: its path below src/twinlog, and its text."""
    base = root / "src" / "twinlog"
    for path in sorted(base.rglob("*.py")):
        yield path.relative_to(base).as_posix(), path.read_text()
