"""``python -m benchmarks.macro SUITE [options] [workload ...]``; see ``--help``."""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import sys
from pathlib import Path
from typing import Final

from benchmarks.macro.report import Results, table

HERE: Final = Path(__file__).resolve().parent
PROGRAMS: Final = HERE.parents[2] / "shared" / "bench"


def suites() -> dict[str, object]:
    """Every module of this package that can run a suite, by name."""
    found = {}
    for module in pkgutil.iter_modules([str(HERE / "suites")]):
        found[module.name] = importlib.import_module(f"benchmarks.macro.suites.{module.name}")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.macro", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("benchmark-results.jsonl"), help="one JSON line a measurement")
    parser.add_argument("--reps", type=int, default=3, help="turns; each measures both servers once")
    parser.add_argument("--programs", type=Path, default=PROGRAMS, help="where the workload programs lie")
    parser.add_argument("--only", choices=["twinlog", "reference"], help="measure one of the two")
    parser.add_argument("--table", action="store_true", help="print the table of --out and measure nothing")
    commands = parser.add_subparsers(dest="suite", required=True)
    known = suites()
    for name, suite in known.items():
        command = commands.add_parser(name, help=(suite.__doc__ or "").splitlines()[0])
        suite.add_arguments(command)  # type: ignore[attr-defined]
    arguments = parser.parse_args()
    suite = known[arguments.suite]
    results = Results(arguments.out)
    if not arguments.table:
        try:
            suite.run(arguments, results)  # type: ignore[attr-defined]
        except KeyboardInterrupt:
            print("stopped; what was measured so far:", file=sys.stderr)
    print(table(results.read(), suite.TARGETS))  # type: ignore[attr-defined]


if __name__ == "__main__":
    main()
