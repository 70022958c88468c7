"""Queues: what is ready, who gets it, and what becomes of it. The messages themselves are kept by ``amqp.store``.

``LiveMessages`` is the door for channels and for the topology; ``ClassicQueue`` one queue. Invariant, checked in
simulation after every event: published = ready + taken + settled + dead (expired, dropped or rejected).
"""

from twinlog.amqp.queues.classic import ClassicQueue
from twinlog.amqp.queues.messages import LiveMessages

__all__ = ["ClassicQueue", "LiveMessages"]
