"""Three families of failure; everything else that escapes is a bug.

A broken invariant is none of them: it is an ``AssertionError`` and stops the node.
"""

from __future__ import annotations


class TwinlogError(Exception):
    """The root of every failure that Twinlog raises on purpose."""


class ProtocolViolation(TwinlogError):
    """The peer broke the wire's rules: close that channel or connection."""


class Refused(TwinlogError):
    """A fair request that we decline; ``code`` is what the client will see."""

    def __init__(self, code: int, message: str = "") -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message

    def __str__(self) -> str:
        return self.message or f"refused with code {self.code}"


class HostFault(TwinlogError):
    """Our disk or network failed; ``what`` names the thing that must go offline."""

    def __init__(self, what: str, reason: str = "") -> None:
        super().__init__(what, reason)
        self.what = what
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.what}: {self.reason}" if self.reason else self.what


class DiskFull(HostFault):
    """A plain write met the end of the disk. Reads go on; writes are refused until space is freed."""
