"""Results as JSON lines, and the table of ratios that they make."""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

TWINLOG: Final = "twinlog"
REFERENCE: Final = "reference"
OTHERS_MAX: Final = 0.15  # cores
NOT_FIGURES: Final = frozenset({"rep", "at", "cores"})


class Target(NamedTuple):
    """What a figure's ratio (Twinlog divided by reference), or the figure itself, is to be."""

    figure: str
    at_least: float | None = None
    at_most: float | None = None
    ratio: bool = True

    def met(self, value: float) -> bool:
        return (self.at_least is None or value >= self.at_least) and (self.at_most is None or value <= self.at_most)

    def __str__(self) -> str:
        bound = f">= {self.at_least:g}" if self.at_least is not None else f"<= {self.at_most:g}"
        return bound + (" x" if self.ratio else "")


Targets = Mapping[str, Sequence[Target]]


def machine() -> dict[str, Any]:
    """What a figure means nothing without."""
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    with open("/proc/cpuinfo") as info:
        model = next((line.split(":", 1)[1].strip() for line in info if line.startswith("model name")), "unknown")
    return {
        "cpu": model,
        "cores": os.cpu_count(),
        "kernel": platform.release(),
        "python": platform.python_version(),
        "commit": commit.stdout.strip(),
    }


class Results:
    """The file of one run and of those before it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._machine = machine()

    def add(self, result: Mapping[str, Any]) -> None:
        line = json.dumps({**result, "at": round(time.time()), "machine": self._machine})
        with self._path.open("a") as out:
            out.write(line + "\n")
        short = {key: value for key, value in result.items() if not isinstance(value, (dict, list))}
        print(json.dumps(short), file=sys.stderr, flush=True)

    def read(self) -> list[dict[str, Any]]:
        if not self._path.exists():
            return []
        return [json.loads(line) for line in self._path.read_text().splitlines() if line.startswith("{")]


def is_disturbed(result: Mapping[str, Any]) -> bool:
    """Somebody else was busy on the machine meanwhile, as far as the result tells."""
    return bool(result.get("other_cpu_s", 0) > OTHERS_MAX * result.get("wall_s", 1))


def medians(results: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, dict[str, float]]]:
    """{workload: {label: {figure: median}}}; the parts of a workload are workloads of their own."""
    gathered: dict[str, dict[str, dict[str, list[float]]]] = {}
    for result in results:
        name = result["workload"] + (f":{result['part']}" if result.get("part") else "")
        figures = gathered.setdefault(name, {}).setdefault(result["label"], {})
        for figure, value in result.items():
            if isinstance(value, (int, float)) and not isinstance(value, bool) and figure not in NOT_FIGURES:
                figures.setdefault(figure, []).append(value)
    return {
        name: {
            label: {figure: statistics.median(values) for figure, values in figures.items()}
            for label, figures in labels.items()
        }
        for name, labels in gathered.items()
    }


def table(results: Sequence[Mapping[str, Any]], targets: Targets) -> str:
    """One line a target: both medians, their ratio, and whether the target is met."""
    lines = [f"{'workload':34} {'figure':26} {'twinlog':>12} {'reference':>12} {'ratio':>8}  target"]
    fair = [result for result in results if not is_disturbed(result)]
    found = medians(fair)
    for name, wanted in targets.items():
        labels = found.get(name, {})
        ours, theirs = labels.get(TWINLOG, {}), labels.get(REFERENCE, {})
        for target in wanted:
            us, them = ours.get(target.figure), theirs.get(target.figure)
            if us is None:
                continue
            ratio = us / them if them else None
            value = ratio if target.ratio else us
            verdict = "" if value is None else ("met" if target.met(value) else "MISSED")
            shown = ["-" if number is None else f"{number:.4g}" for number in (us, them, ratio)]
            lines.append(
                f"{name:34} {target.figure:26} {shown[0]:>12} {shown[1]:>12} {shown[2]:>8}  {target!s} {verdict}"
            )
    if len(fair) < len(results):
        lines.append(f"left out: {len(results) - len(fair)} results, because others were busy on the machine")
    return "\n".join(lines)
