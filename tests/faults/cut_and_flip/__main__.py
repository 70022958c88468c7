"""``python -m tests.faults.cut_and_flip``: every bit and every length of every subject, in pieces if time is short.

    --seconds 240           stop after that; the next call goes on where this one stopped
    --subject log           only this one (it may be named more than once)
    --only log 4711         this one place again

Exit code 0: no promise was broken, and everything was tried; 3: there is more to try.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from tests.faults.cut_and_flip.campaign import SUBJECTS, BrokenPromise, Progress, load, run, subject, try_places

EXIT_BROKEN = 1
EXIT_MORE = 3
STATE = Path(".campaigns") / "cut_and_flip.json"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.faults.cut_and_flip")
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--subject", action="append", choices=list(SUBJECTS))
    parser.add_argument("--only", nargs=2, metavar=("SUBJECT", "NUMBER"))
    options = parser.parse_args()
    if options.only:
        name, number = options.only[0], int(options.only[1])
        print(subject(name).damage(number))
        print(try_places(name, range(number, number + 1)))
        return 0
    names = options.subject or list(SUBJECTS)
    state = STATE.with_stem(f"{STATE.stem}-{'-'.join(names)}") if options.subject else STATE
    state.parent.mkdir(exist_ok=True)
    progress = load(state, names)
    try:
        run(progress, state, jobs=options.jobs, seconds=options.seconds, tell=tell)
    except BrokenPromise as broken:
        print(f"\na promise was broken: {broken}")
        return EXIT_BROKEN
    report(progress)
    if not progress.is_over:
        return EXIT_MORE
    state.unlink()
    return 0


def tell(progress: Progress) -> None:
    if sys.stderr.isatty():
        done, places = progress.places
        sys.stderr.write(f"\r{done:,} of {places:,} places ")


def report(progress: Progress) -> None:
    if sys.stderr.isatty():
        sys.stderr.write("\r\033[K")
    for name, count in progress.counts.items():
        told = ", ".join(f"{outcome} {sums:,}" for outcome, sums in sorted(progress.outcomes.get(name, {}).items()))
        print(f"{name}: {progress.done.get(name, 0):,} of {count:,} places; {told}")
    print("{:,} of {:,} places, no promise broken".format(*progress.places))


if __name__ == "__main__":
    sys.exit(main())
