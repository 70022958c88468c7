"""Sockets and clocks of the machine that Spark runs on, plain or with TLS."""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Callable
from typing import Final, TypeVar

from twinlog.base.address import Address
from twinlog.client import ConnectionLost, NoAnswer

SOCKET_BUFFER_BYTES: Final = 4 * 1024 * 1024

T = TypeVar("T")


class SparkTransport:
    """One connection; every fault of the socket becomes one of the client's own."""

    def __init__(self, address: Address, timeout_ms: int, tls: ssl.SSLContext | None) -> None:
        self._address = address
        self._timeout_ms = timeout_ms

        def open_socket() -> socket.socket:
            made = socket.create_connection(address, timeout_ms / 1000)
            made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SOCKET_BUFFER_BYTES)
            return tls.wrap_socket(made, server_hostname=address.host) if tls else made

        self._socket = self._guarded(open_socket, "cannot be reached")

    def send(self, data: bytes) -> None:
        self._guarded(lambda: self._socket.settimeout(None), "broke")
        self._guarded(lambda: self._socket.sendall(data), "broke")

    def receive_into(self, room: memoryview, timeout_ms: int) -> int:
        self._guarded(lambda: self._socket.settimeout(timeout_ms / 1000), "broke")
        size = self._guarded(lambda: self._socket.recv_into(room), "broke")
        if size == 0:
            raise ConnectionLost(f"the connection to {self._address} was closed by the broker")
        return size

    def close(self) -> None:
        self._socket.close()

    def _guarded(self, call: Callable[[], T], verb: str) -> T:
        try:
            return call()
        except TimeoutError:
            raise NoAnswer(f"{self._address} gave no answer for {self._timeout_ms} ms") from None
        except OSError as fault:
            raise ConnectionLost(f"the connection to {self._address} {verb}: {fault.strerror or fault}") from None


class SparkDoor:
    """The way out of a Spark process."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self._tls = tls

    def connect(self, address: Address, timeout_ms: int) -> SparkTransport:
        return SparkTransport(address, timeout_ms, self._tls)

    def pause(self, delay_ms: int) -> None:
        time.sleep(delay_ms / 1000)

    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000

    def monotonic_ms(self) -> int:
        return time.monotonic_ns() // 1_000_000
