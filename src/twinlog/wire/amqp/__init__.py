"""AMQP 0-9-1's wire format: methods, properties, field tables; nothing about what they mean.

Bytes of strangers are either a method or a ``ProtocolViolation``. Publishes, deliveries and acks do not pass through
here one by one: the kernel turns them into runs (``_kernel.AmqpParser``).
"""

from twinlog.wire.amqp.codec import HEARTBEAT, decode_method, encode_method
from twinlog.wire.amqp.method import Method, Table
from twinlog.wire.amqp.properties import Properties, decode_properties, encode_properties
from twinlog.wire.amqp.table import read_table, write_table

__all__ = [
    "HEARTBEAT",
    "Method",
    "Properties",
    "Table",
    "decode_method",
    "decode_properties",
    "encode_method",
    "encode_properties",
    "read_table",
    "write_table",
]
