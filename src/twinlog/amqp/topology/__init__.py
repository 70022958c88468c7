"""Exchanges, queues and bindings of all vhosts: declared, found, deleted and bound, under RabbitMQ's rules.

Promises:
- what is durable is a record of the metadata log and answered when it is on stable storage; what is not (transient and
  exclusive queues, transient exchanges, bindings that touch one of those) belongs to this node and to this run of it;
- both kinds are seen through one graph, which changes in a single step together with what it tells ``QueueKeeper``;
- a request that meets a name whose fate is just being written waits until it is, and is then decided anew: nobody
  hears of something that may yet be lost;
- a queue's id is never given twice, not even after a restart.
"""

from __future__ import annotations

from twinlog.amqp.topology.keeper import NoKeeper
from twinlog.amqp.topology.topology import LiveTopology

__all__ = ["LiveTopology", "NoKeeper"]
