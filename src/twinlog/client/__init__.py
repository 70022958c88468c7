"""A small Kafka client whose core does no input or output.

``Connection`` turns requests into bytes and bytes into answers; ``Outbox`` gathers records into batches and numbers
them; ``Reader`` asks for records and decodes them; ``admin`` builds requests about topics. None of them waits:
the simulator drives them with its streams. ``blocking`` is the same thing for a caller that may wait, over a ``Door``
(``ports``) that the caller brings; through it ``groups`` asks about consumer groups, and ``membership`` is in one.
Imports only ``wire`` and what is below it.
"""

from __future__ import annotations

from twinlog.client.blocking import Client, Consumer, Producer
from twinlog.client.connection import Answer, Connection
from twinlog.client.errors import BrokerError, ClientError, ConnectionLost, NoAnswer
from twinlog.client.groups import Groups, GroupView
from twinlog.client.membership import Membership
from twinlog.client.ports import Door, Transport
from twinlog.client.reader import Reader, Record
from twinlog.client.view import ClusterView, TopicView

__all__ = [
    "Answer",
    "BrokerError",
    "Client",
    "ClientError",
    "ClusterView",
    "Connection",
    "ConnectionLost",
    "Consumer",
    "Door",
    "GroupView",
    "Groups",
    "Membership",
    "NoAnswer",
    "Producer",
    "Reader",
    "Record",
    "TopicView",
    "Transport",
]
