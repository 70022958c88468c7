"""How a command ends badly: what went wrong, and what to do next, on standard error."""

from __future__ import annotations

import sys
from typing import NoReturn


def fail(what: str, next_step: str = "", *, code: int = 1) -> NoReturn:
    """Ends the command. ``next_step`` is a sentence that helps."""
    print(f"twinlog: {what}", file=sys.stderr)
    if next_step:
        print(f"  {next_step}", file=sys.stderr)
    sys.exit(code)
