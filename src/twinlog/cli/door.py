"""The command line's way out: plain blocking sockets."""

from __future__ import annotations

import socket
import time

from twinlog.base.address import Address
from twinlog.client import ConnectionLost, NoAnswer


class SocketTransport:
    """A TCP connection for ``twinlog.client``."""

    def __init__(self, address: Address, timeout_ms: int) -> None:
        self._address = address
        try:
            self._socket = socket.create_connection(address, timeout_ms / 1000)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except OSError as fault:
            raise ConnectionLost(f"no connection to {address}: {fault.strerror or fault}") from None

    def send(self, data: bytes) -> None:
        try:
            self._socket.settimeout(None)
            self._socket.sendall(data)
        except OSError as fault:
            raise ConnectionLost(f"the connection to {self._address} broke: {fault.strerror or fault}") from None

    def receive_into(self, room: memoryview, timeout_ms: int) -> int:
        try:
            self._socket.settimeout(timeout_ms / 1000)
            size = self._socket.recv_into(room)
        except TimeoutError:
            raise NoAnswer(f"{self._address} did not answer within {timeout_ms} ms") from None
        except OSError as fault:
            raise ConnectionLost(f"the connection to {self._address} broke: {fault.strerror or fault}") from None
        if not size:
            raise ConnectionLost(f"{self._address} closed the connection")
        return size

    def close(self) -> None:
        self._socket.close()


class SocketDoor:
    """Sockets and clocks of this machine."""

    def connect(self, address: Address, timeout_ms: int) -> SocketTransport:
        return SocketTransport(address, timeout_ms)

    def pause(self, delay_ms: int) -> None:
        time.sleep(delay_ms / 1000)

    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000

    def monotonic_ms(self) -> int:
        return time.monotonic_ns() // 1_000_000
