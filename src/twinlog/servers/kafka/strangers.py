"""Who knocks at the wrong door: names the protocol that a Kafka connection began with by mistake."""

from __future__ import annotations

from typing import Final

HTTP_WORDS: Final = (b"GET ", b"POST", b"PUT ", b"HEAD", b"DELE", b"OPTI", b"PATC", b"CONN", b"TRAC", b"PRI ")
TLS_HANDSHAKE: Final = 0x16
TLS_MAJOR: Final = 0x03


def what_it_speaks(head: bytes) -> str | None:
    """A hint for the log, from the first bytes of what is no Kafka request."""
    if head.startswith(HTTP_WORDS):
        return "this is HTTP, and the port speaks Kafka's protocol"
    if len(head) >= 2 and head[0] == TLS_HANDSHAKE and head[1] == TLS_MAJOR:
        return "this is TLS, and the port speaks Kafka's protocol in plain text"
    if head.startswith(b"AMQP"):
        return "this is AMQP, and the port speaks Kafka's protocol"
    return None
