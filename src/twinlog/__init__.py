"""Twinlog: one message broker for Kafka and RabbitMQ clients, over one log.

Start reading at ARCHITECTURE.md. The front doors are ``twinlog.app`` (a node), ``twinlog.client`` (a Kafka
client without sockets of its own), ``twinlog.testing`` (a broker for your tests) and ``twinlog.sim``.
"""

from typing import Final

__version__: Final = "0.1.0"
