"""What all AMQP connections of a node share. ``app`` puts it together."""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from twinlog.amqp.alarms import Alarms
from twinlog.amqp.counts import Counts
from twinlog.amqp.ports import Messages, QueueKeeper, Rights, Router, Topology
from twinlog.amqp.replies import DirectReplies
from twinlog.amqp.settings import AmqpSettings
from twinlog.host import Chance

NAME_BYTES: Final = 16


@dataclass(slots=True, kw_only=True, eq=False)
class AmqpBroker:
    """Ports and settings. Made once a node."""

    topology: Topology
    router: Router
    messages: Messages
    keeper: QueueKeeper
    rights: Rights
    chance: Chance
    now_ms: Callable[[], int]
    settings: AmqpSettings = field(default_factory=AmqpSettings)
    alarms: Alarms = field(default_factory=Alarms)
    counts: Counts = field(default_factory=Counts)
    replies: DirectReplies = field(default_factory=DirectReplies)
    vhost_limit: Callable[[str, str], int] = lambda vhost, limit: -1
    """The limit of that name in a vhost; below 0 there is none."""
    user_limit: Callable[[str, str], int] = lambda user, limit: -1
    streams_charge: Callable[[str, int], int] = lambda user, size_bytes: 0
    """``Streams.charge``."""

    def new_name(self, prefix: str) -> str:
        """A name that nobody guesses."""
        return prefix + base64.urlsafe_b64encode(self.chance.bytes(NAME_BYTES)).rstrip(b"=").decode()
