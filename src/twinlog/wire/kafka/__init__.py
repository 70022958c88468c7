"""Kafka's wire format: bytes to messages and back, and nothing about what they mean.

One class stands for all versions of a message (``messages``); versions end here. Bytes of strangers are either a
message or a ``ProtocolViolation``, at a cost bounded by their size. ``records`` has what coordinators store, ``errors``
the error codes. The form of every message is written down in ``spec/kafka``, and the kernel reads it from the classes.
"""

from twinlog.wire.kafka.api import (
    API_VERSIONS,
    APIS,
    FLEXIBLE_FROM,
    Api,
    decode_request,
    decode_response,
    encode_request,
    encode_response,
    encode_response_parts,
)
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.message import ZERO_UUID, Message, Records, Struct

__all__ = [
    "APIS",
    "API_VERSIONS",
    "FLEXIBLE_FROM",
    "ZERO_UUID",
    "Api",
    "ErrorCode",
    "Message",
    "Records",
    "Struct",
    "decode_request",
    "decode_response",
    "encode_request",
    "encode_response",
    "encode_response_parts",
]
