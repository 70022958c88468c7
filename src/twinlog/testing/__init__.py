"""A broker for your tests: a real one, in a process of its own, on free ports, with data in a temporary directory.

from twinlog.testing import Broker

with Broker() as broker:
    producer = confluent_kafka.Producer({"bootstrap.servers": broker.kafka})
"""

from __future__ import annotations

from twinlog.testing.broker import ApiRefused, Broker, BrokerFailed
from twinlog.testing.faults import Faults

__all__ = ["ApiRefused", "Broker", "BrokerFailed", "Faults"]
