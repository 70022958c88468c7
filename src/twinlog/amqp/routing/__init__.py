"""Where a message goes: one file an exchange type, the graph they make up, and the router that walks it.

Promises:
- each queue gets a message once, however many ways lead to it; ways in a circle end;
- a route is remembered by (vhost, exchange, key) and is right after every change: a change of bindings forgets all
  routes of its vhost, a new or deleted queue those to its name;
- the order of the queues in a route is that in which their bindings were made, on every machine and in every run.
"""

from __future__ import annotations

from twinlog.amqp.routing.graph import Edge, ExchangeNode, Graph, VhostGraph
from twinlog.amqp.routing.router import RouteFinder
from twinlog.amqp.routing.types import EXCHANGE_TYPES, ExchangeType, exchange_type

__all__ = [
    "EXCHANGE_TYPES",
    "Edge",
    "ExchangeNode",
    "ExchangeType",
    "Graph",
    "RouteFinder",
    "VhostGraph",
    "exchange_type",
]
