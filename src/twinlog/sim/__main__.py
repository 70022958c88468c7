"""``python -m twinlog.sim``: many seeds, or one again.

    python -m twinlog.sim --seeds 2000                   seeds 1 to 2000 of every workload
    python -m twinlog.sim --workload log --seed 17       that one again, with its story
    python -m twinlog.sim --planted ack-before-sync      how soon a planted bug is found
    python -m twinlog.sim --planted all --part 2/5       a fifth of them
    python -m twinlog.sim --list

Exit code 0: every promise was kept (or every planted bug found), and every seed that ran twice did the same.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence

from twinlog.sim.campaign import WORKLOADS, Outcome, try_seed
from twinlog.sim.campaign.many import Totals, campaign, hunt
from twinlog.sim.planted import BUGS

EXIT_BROKEN = 1
EXIT_USAGE = 2
EVENTS_SHOWN = 60


def main(arguments: Sequence[str] | None = None) -> int:
    options = parser().parse_args(arguments)
    if options.list:
        return list_everything()
    if options.planted and options.planted != "all" and options.planted not in BUGS:
        say(f"no planted bug is called {options.planted!r}; --list names them")
        return EXIT_USAGE
    if options.seed is not None:
        return replay(options)
    if options.planted:
        return find_planted(options)
    workloads = [options.workload] if options.workload else list(WORKLOADS)
    return max(many(options, workload) for workload in workloads)


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="python -m twinlog.sim", description="Whole nodes in simulated worlds, tormented by seed."
    )
    made.add_argument("--seeds", type=int, default=200, metavar="N", help="how many seeds to try (200)")
    made.add_argument("--from", type=int, default=1, dest="first", metavar="S", help="the first of them (1)")
    made.add_argument("--seed", type=int, metavar="S", help="only this one, with its story")
    made.add_argument("--workload", choices=sorted(WORKLOADS), help="only this workload (all; log for one seed)")
    made.add_argument("--planted", metavar="NAME", help="plant a bug, or each in its turn: all; it has to be found")
    made.add_argument(
        "--part",
        type=part_of,
        default=(1, 1),
        metavar="K/N",
        help="with --planted all: every n-th of them, from the k-th",
    )
    made.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N", help="processes side by side")
    made.add_argument(
        "--replay-one-in", type=int, default=20, metavar="N", help="run every n-th seed twice (20; 0: none)"
    )
    made.add_argument("--events", action="store_true", help="with --seed: the last events of the trace as well")
    made.add_argument("--list", action="store_true", help="name workloads and planted bugs")
    return made


def list_everything() -> int:
    say("workloads:")
    for name, workload in WORKLOADS.items():
        say(f"  {name:<32}{workload.about}")
    say("planted bugs:")
    for name, bug in BUGS.items():
        say(f"  {name:<32}{bug.about} ({bug.workload}, within {bug.seeds_max} seeds)")
    return 0


def many(options: argparse.Namespace, workload: str) -> int:
    began = time.monotonic()

    def progress(totals: Totals) -> None:
        if sys.stderr.isatty():
            rate = totals.seeds / (time.monotonic() - began)
            sys.stderr.write(f"\r{workload}: {totals.seeds} of {options.seeds} seeds, {rate:.1f} a second ")

    seeds = range(options.first, options.first + options.seeds)
    totals = campaign(
        seeds, workload, jobs=options.jobs, replay_one_in=options.replay_one_in, stop_after=1, progress=progress
    )
    if sys.stderr.isatty():
        sys.stderr.write("\r\033[K")
    seconds = time.monotonic() - began
    say(
        f"{workload}: {totals.seeds} seeds, {totals.simulated_ms / 3.6e6:.2f} simulated hours in {seconds:.0f} s "
        f"({totals.seeds / seconds:.1f} seeds a second), {totals.confirmed} confirmed, {totals.read} read, "
        f"{len(totals.broken)} broken"
    )
    say(f"  replayed {totals.replayed} in another process, {len(totals.not_replayed)} differed")
    say("  faults: " + ", ".join(f"{name} {count}" for name, count in sorted(totals.faults.items())))
    say("  marks: " + ", ".join(f"{name} {count}" for name, count in sorted(totals.marks.items())))
    for outcome in totals.broken[:1]:
        tell(outcome)
    for outcome in totals.not_replayed:
        say(f"seed {outcome.seed} of {outcome.workload} does not replay: another process had another digest")
    return 0 if totals.is_good else EXIT_BROKEN


def find_planted(options: argparse.Namespace) -> int:
    """Each planted bug has to be found within its number of seeds."""
    part, parts = options.part
    names = list(BUGS) if options.planted == "all" else [options.planted]
    if options.workload:
        names = [name for name in names if BUGS[name].workload == options.workload]
    names = names[part - 1 :: parts]
    missed = 0
    for name, outcome in hunt(names, options.first, jobs=options.jobs):
        missed += outcome is None
        if outcome is None:
            say(f"{name}: NOT FOUND in {BUGS[name].seeds_max} seeds")
        else:
            say(f"{name}: seed {outcome.seed}, {outcome.kind}")
    say(f"{len(names) - missed} of {len(names)} planted bugs found")
    return EXIT_BROKEN if missed else 0


def part_of(text: str) -> tuple[int, int]:
    """``2/5`` as numbers."""
    part, _, parts = text.partition("/")
    if not (part.isdecimal() and parts.isdecimal() and 1 <= int(part) <= int(parts)):
        raise argparse.ArgumentTypeError(f"{text!r} is no part like 2/5")
    return int(part), int(parts)


def replay(options: argparse.Namespace) -> int:
    planted = options.planted or ""
    workload = options.workload or (BUGS[planted].workload if planted else "log")
    outcome = try_seed(options.seed, workload, planted, keep_events=options.events)
    say(f"seed {outcome.seed} of {outcome.workload}: {outcome.plan}")
    for line in outcome.story:
        say(line)
    for event in outcome.events[-EVENTS_SHOWN:]:
        say(event)
    say(f"digest {outcome.digest}")
    if outcome.kind:
        tell(outcome)
        return EXIT_BROKEN
    say("every promise was kept")
    return 0


def tell(outcome: Outcome) -> None:
    planted = f" --planted {outcome.planted}" if outcome.planted else ""
    say(f"seed {outcome.seed} of {outcome.workload} is broken: {outcome.kind}")
    say(f"  {outcome.text}")
    say(f"  {outcome.plan}")
    say(f"  again: python -m twinlog.sim --workload {outcome.workload} --seed {outcome.seed}{planted}")


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
