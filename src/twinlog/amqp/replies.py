"""Direct replies: answers that go from a channel straight to the channel that asked, through no queue.

A requester consumes the pseudo queue ``amq.rabbitmq.reply-to``; in what it publishes, that name is replaced by one
that only it and the receivers know. Nothing is kept for who is gone.
"""

from __future__ import annotations

from typing import Final, Protocol

PSEUDO_QUEUE: Final = "amq.rabbitmq.reply-to"
PREFIX: Final = PSEUDO_QUEUE + "."


class Requester(Protocol):
    def on_replies(self, blob: bytes, count: int) -> None: ...


class DirectReplies:
    """Who waits for replies, by the name they are sent to."""

    def __init__(self) -> None:
        self._requesters: dict[str, Requester] = {}

    def add(self, name: str, requester: Requester) -> None:
        self._requesters[name] = requester

    def remove(self, name: str) -> None:
        self._requesters.pop(name, None)

    def is_there(self, name: str) -> bool:
        """For the question whether a requester still waits. The pseudo queue itself is always there."""
        return name == PSEUDO_QUEUE or name in self._requesters

    def deliver(self, name: str, blob: bytes, count: int) -> None:
        """To the requester, or to nobody if it is gone."""
        requester = self._requesters.get(name)
        if requester is not None:
            requester.on_replies(blob, count)
