"""The HTTP side of a broker as a client sees it: plain requests, sessions of browsers, raw bytes."""

from __future__ import annotations

import base64
import json
import socket
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPResponse
from typing import Any

from twinlog.base.address import parse_address

JSON = "application/json"


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def reason(self) -> str:
        return str(self.json["reason"])


@dataclass
class Api:
    """Requests as one user. ``user`` None: nobody."""

    address: str
    user: str | None = "guest"
    password: str = "guest"
    extra: dict[str, str] = field(default_factory=dict)

    def call(self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None) -> Answer:
        sent = {**self.extra, **(headers or {})}
        if self.user is not None:
            token = base64.b64encode(f"{self.user}:{self.password}".encode()).decode()
            sent["Authorization"] = f"Basic {token}"
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        if data is not None:
            sent.setdefault("Content-Type", JSON)
        host, port = parse_address(self.address)
        connection = HTTPConnection(host, port, timeout=30)
        try:
            connection.request(method, path, data, sent)
            return answer_of(connection.getresponse())
        finally:
            connection.close()

    def get(self, path: str, **headers: str) -> Any:
        answer = self.call("GET", path, headers=headers)
        assert answer.status == 200, (path, answer)
        return answer.json

    def put(self, path: str, body: Any = None) -> int:
        answer = self.call("PUT", path, {} if body is None else body)
        assert answer.status in (201, 204), (path, answer)
        return answer.status

    def post(self, path: str, body: Any = None) -> Any:
        answer = self.call("POST", path, {} if body is None else body)
        assert answer.status in (200, 201, 204), (path, answer)
        return answer.json if answer.body else None

    def delete(self, path: str) -> int:
        answer = self.call("DELETE", path)
        assert answer.status == 204, (path, answer)
        return answer.status

    def as_user(self, user: str | None, password: str = "secret") -> Api:
        return Api(self.address, user, password)

    def browser(self, user: str = "guest", password: str = "guest") -> Browser:
        return Browser(self.address, user, password)


class Browser(Api):
    """Logged in by a session."""

    def __init__(self, address: str, user: str, password: str) -> None:
        super().__init__(address, None)
        answer = self.call("POST", "/api/session", {"name": user, "password": password})
        assert answer.status == 200, answer
        self.cookie = answer.headers["set-cookie"]
        self.token: str = answer.json["token"]
        self.extra = {"Cookie": self.cookie.partition(";")[0], "X-CSRF-Token": self.token}

    def without_token(self) -> Api:
        return Api(self.address, None, extra={"Cookie": self.extra["Cookie"]})


def answer_of(response: HTTPResponse) -> Answer:
    headers = {name.lower(): value for name, value in response.getheaders()}
    return Answer(response.status, headers, response.read())


def raw(address: str, data: bytes, *, timeout_s: float = 20.0) -> bytes:
    """Everything that comes back until the other side closes."""
    host, port = parse_address(address)
    with socket.create_connection((host, port), timeout_s) as link:
        try:
            link.sendall(data)
        except OSError:
            pass  # it closed while we were still sending
        received = b""
        try:
            while piece := link.recv(65536):
                received += piece
        except ConnectionError:
            pass
        return received
