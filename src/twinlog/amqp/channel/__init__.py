"""Channels: publishing with confirms and transactions, consuming with prefetch limits, acknowledging.

A channel belongs to one connection, which it sees as ``ports.Peer``, and knows queues and topology by the room's ports.
It touches no socket and never waits: what has to wait parks the channel, and the connection puts off what follows.
Publishes are runs, deliveries are runs, acknowledgements are ranges of tags: nothing is kept per message.
"""

from __future__ import annotations

from twinlog.amqp.channel.channel import Channel
from twinlog.amqp.channel.ports import Peer

__all__ = ["Channel", "Peer"]
