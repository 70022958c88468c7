"""One HTTP connection: bytes in, one request at a time, an answer out. ``h11`` keeps the rules of the wire.

While a request is being answered nothing more is read, so a client that sends ten thousand requests at once holds one.
What is refused before its body was read ends the connection: the body could pose as the next request.
"""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any, Final

import h11

from twinlog.base import HostFault, Refused
from twinlog.host import Stream, Timer
from twinlog.servers.http.guard import SAFE_METHODS, SECURITY_HEADERS, refused
from twinlog.servers.http.json_text import BadJson, decode
from twinlog.servers.http.message import (
    HttpError,
    Request,
    Response,
    bad_request,
    error_response,
    split_target,
)
from twinlog.servers.http.router import LARGE, Route

if TYPE_CHECKING:
    from twinlog.servers.http.server import HttpServer

HEADERS_MAX: Final = 100
TARGET_MAX: Final = 8192
PARSE_INLINE_BYTES: Final = 64 * 1024
METHODS: Final = ("GET", "HEAD", "PUT", "POST", "DELETE", "OPTIONS")


class HttpConnection:
    """A ``StreamHandler``. Its one timer serves every wait."""

    def __init__(self, server: HttpServer) -> None:
        self._server = server
        self._settings = server.settings
        self._stream: Stream
        self._wire = h11.Connection(h11.SERVER, max_incomplete_event_size=self._settings.header_size_max_bytes)
        self._request: Request | None = None
        self._route: Route | None = None
        self._body = bytearray()
        self._body_max = 0
        self._kept_bytes = 0  # of the request's body, until it is answered
        self._busy = False  # a request is being answered
        self._closing = False
        self._sink: StreamSink | None = None
        self._timer: Timer | None = None
        self.peer = ("", 0)

    # ---- StreamHandler ------------------------------------------------------------------------------------------

    def on_open(self, stream: Stream) -> None:
        self._stream = stream
        self.peer = stream.peer
        if not self._server.admit(self):
            self._closing = True
            stream.abort()
            return
        self._wait(self._settings.header_wait_max_ms)

    def on_bytes(self, buffer: bytearray, start: int, end: int) -> int:
        if self._closing:
            return end
        if self._sink is not None:
            self.close()  # nothing may follow a request whose answer never ends
            return end
        self._wire.receive_data(bytes(memoryview(buffer)[start:end]))
        self._go_on()
        return end

    def on_writable(self) -> None:
        return None

    def on_closed(self, reason: Exception | None) -> None:
        self._closing = True
        self._stop_timer()
        if self._sink is not None:
            self._sink.end()
        self._server.left(self)

    # ---- requests -----------------------------------------------------------------------------------------------

    def _go_on(self) -> None:
        while not self._busy and not self._closing:
            try:
                event = self._wire.next_event()
            except h11.RemoteProtocolError as broken:
                self._refuse(HttpError(broken.error_status_hint, "bad_request", "this is no valid HTTP", close=True))
                return
            if event is h11.NEED_DATA:
                if self._wire.they_are_waiting_for_100_continue:
                    self._send(self._wire.send(h11.InformationalResponse(status_code=100, headers=[])))
                return
            if event is h11.PAUSED or isinstance(event, h11.ConnectionClosed):
                self.close()
                return
            try:
                if isinstance(event, h11.Request):
                    self._begin(event)
                elif isinstance(event, h11.Data):
                    self._more(event.data)
                elif isinstance(event, h11.EndOfMessage):
                    self._whole()
            except HttpError as error:
                self._refuse(error)

    def _begin(self, event: h11.Request) -> None:
        self._wait(self._settings.body_wait_max_ms)
        headers = read_headers(event)
        target = event.target.decode("ascii", "replace")
        request = Request(
            method=event.method.decode("ascii", "replace"),
            path=target,
            parameters={},
            query={},
            headers=headers,
            peer=self._stream.peer,
            local=self._stream.local,
        )
        self._request = request
        if request.method not in METHODS:
            raise HttpError(501, "not_implemented", "this method is not served", close=True)
        if len(target) > TARGET_MAX:
            raise HttpError(414, "bad_request", "the target is too long", close=True)
        parts, request.query = split_target(target)
        guard = self._server.guard
        guard.check_source(request)
        if request.method == "OPTIONS":
            self._route = None
            self._body_max = 0
            return
        self._route = route = self._server.find(request, parts)
        guard.admit(request, route)
        if route.body is None:
            self._body_max = 0 if request.method in SAFE_METHODS else self._settings.body_size_max_bytes
        else:
            guard.check_body(request)
            large = route.body_size == LARGE
            self._body_max = self._settings.upload_size_max_bytes if large else self._settings.body_size_max_bytes
        declared = headers.get("content-length")
        if declared is not None and int(declared) > self._body_max:
            raise HttpError(413, "payload_too_large", f"the body may have {self._body_max} bytes", close=True)

    def _more(self, data: bytes | bytearray) -> None:
        if len(self._body) + len(data) > self._body_max:
            raise HttpError(413, "payload_too_large", f"the body may have {self._body_max} bytes", close=True)
        self._body += data
        self._keep(len(data))

    def _keep(self, by_bytes: int) -> None:
        self._kept_bytes += by_bytes
        self._stream.keep(by_bytes)

    def _whole(self) -> None:
        request, route = self._request, self._route
        assert request is not None
        request.body, self._body = bytes(self._body), bytearray()
        self._busy = True
        self._stop_timer()
        self._stream.pause_reading()
        if route is None:
            self._answer(self._server.guard.preflight(request))
        elif route.body is None or not request.body:
            self._handle(request, route)
        elif len(request.body) <= PARSE_INLINE_BYTES:
            self._parsed(request, route, *parsed(request.body))
        else:
            # Megabytes of JSON keep a loop from everybody else; they are read by a thread.
            body = request.body
            self._server.tasks.blocking(
                lambda: parsed(body), lambda outcome, fault: self._parsed(request, route, *(outcome or (None, fault)))
            )

    def _parsed(self, request: Request, route: Route, value: Any, fault: Exception | None) -> None:
        if fault is not None:
            self._answer(error_response(bad_request(f"the body cannot be used: {fault}")))
            return
        request.json = value
        self._handle(request, route)

    def _handle(self, request: Request, route: Route) -> None:
        try:
            answer = route.handler(self._server.managed, request)
        except Exception as fault:
            self._failed(request, route, fault)
            return
        if isinstance(answer, Response):
            self._answer(answer)
        else:
            self._server.tasks.start(self._answer_later(request, route, answer), "http request")

    async def _answer_later(self, request: Request, route: Route, answer: Awaitable[Response]) -> None:
        try:
            response = await answer
        except Exception as fault:
            self._failed(request, route, fault)
            return
        self._answer(response)

    def _failed(self, request: Request, route: Route, fault: Exception) -> None:
        if isinstance(fault, HttpError):
            self._answer(error_response(fault))
        elif isinstance(fault, Refused):
            self._answer(error_response(refused(fault)))
        elif isinstance(fault, HostFault):
            self._answer(error_response(HttpError(503, "unavailable", "the disk of this node failed; see its log")))
        else:
            self._server.log.error(
                "an HTTP request met a bug", peer=self.peer[0], route=f"{route.method} {route.path}", fault=fault
            )
            self._answer(error_response(HttpError(500, "internal_error", "the node's log says more")))
            if isinstance(fault, AssertionError):
                raise fault  # a broken invariant stops the node

    # ---- answers ------------------------------------------------------------------------------------------------

    def _refuse(self, error: HttpError) -> None:
        """Before the body was read: the answer, and the end."""
        self._busy = True
        self._stop_timer()
        self._answer(error_response(error), last=error.close or self._wire.their_state is not h11.DONE)

    def _answer(self, response: Response, *, last: bool = False) -> None:
        if self._closing:
            return
        self._server.count(self._route, response.status)
        headers = [
            ("Content-Type", response.content_type),
            ("Cache-Control", response.cache),
            *SECURITY_HEADERS,
            *response.headers,
        ]
        if self._request is not None:
            headers += self._server.guard.cors_headers(self._request)
        if last:
            headers.append(("Connection", "close"))
        head_only = self._request is not None and self._request.method == "HEAD"
        if response.stream is None:
            headers.append(("Content-Length", str(len(response.body))))
        if self._wire.our_state is not h11.SEND_RESPONSE and self._wire.our_state is not h11.IDLE:
            self.close()
            return
        parts = self._wire.send(h11.Response(status_code=response.status, headers=headers)) or b""
        if response.stream is not None and not head_only:
            self._send(parts)
            self._sink = StreamSink(self)
            # A peer that closes its stream is only noticed while we read.
            self._stream.resume_reading()
            response.stream(self._sink)
            return
        if response.body and not head_only:
            parts += self._wire.send(h11.Data(data=response.body)) or b""
        parts += self._wire.send(h11.EndOfMessage()) or b""
        self._send(parts)
        self._next(last)

    def _next(self, last: bool) -> None:
        self._request = self._route = None
        self._keep(-self._kept_bytes)
        if last or self._wire.our_state is h11.MUST_CLOSE or self._wire.their_state is not h11.DONE:
            self.close()
            return
        if self._server.draining:
            self.close()
            return
        self._wire.start_next_cycle()
        self._busy = False
        self._wait(self._settings.idle_max_ms)
        # In a turn of its own: a pipeline of cheap requests would otherwise recurse, and hold the loop.
        self._server.tasks.soon(self._resume)

    def _resume(self) -> None:
        if self._closing or self._busy:
            return
        self._stream.resume_reading()
        self._go_on()

    def write_stream(self, data: bytes) -> bool:
        if self._closing or self._stream.queued_bytes > self._stream.queue_high_bytes // 4:
            return False
        self._send(self._wire.send(h11.Data(data=data)))
        return True

    def end_stream(self) -> None:
        self._sink = None
        if not self._closing:
            self._send(self._wire.send(h11.EndOfMessage()))
            self.close()

    def _send(self, data: bytes | None) -> None:
        if data and not self._closing:
            self._stream.send([data])

    # ---- time and the end ---------------------------------------------------------------------------------------

    def _wait(self, patience_ms: int) -> None:
        self._stop_timer()
        self._timer = self._server.tasks.later(patience_ms, self._on_timer)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _on_timer(self) -> None:
        self._timer = None
        if self._closing or self._busy:
            return
        began = self._request is not None or bool(self._wire.trailing_data[0])
        if began:
            self._refuse(HttpError(408, "timeout", "the request did not come in time", close=True))
        self.close()

    def drain(self) -> None:
        if self._sink is not None:
            self._sink.close()
        elif not self._busy:
            self.close()

    def close(self) -> None:
        if not self._closing:
            self._closing = True
            self._stop_timer()
            self._stream.close()


class StreamSink:
    """The open end of a streamed answer."""

    def __init__(self, connection: HttpConnection) -> None:
        self._connection: HttpConnection | None = connection

    @property
    def closed(self) -> bool:
        return self._connection is None

    def write(self, data: bytes) -> bool:
        return self._connection is not None and self._connection.write_stream(data)

    def close(self) -> None:
        if self._connection is not None:
            connection, self._connection = self._connection, None
            connection.end_stream()

    def end(self) -> None:
        """The peer went."""
        self._connection = None


def read_headers(event: h11.Request) -> dict[str, str]:
    if len(event.headers) > HEADERS_MAX:
        raise HttpError(431, "bad_request", f"more than {HEADERS_MAX} headers", close=True)
    headers: dict[str, str] = {}
    for raw_name, raw_value in event.headers:
        name, value = raw_name.decode("ascii"), raw_value.decode("latin-1")
        if name in headers:
            if name in ("host", "content-length", "authorization", "origin", "content-type", "transfer-encoding"):
                raise HttpError(400, "bad_request", f"the header {name} came twice", close=True)
            value = f"{headers[name]}{'; ' if name == 'cookie' else ', '}{value}"
        headers[name] = value
    if "content-length" in headers and "transfer-encoding" in headers:
        raise HttpError(400, "bad_request", "a length and chunks: the body could be read in two ways", close=True)
    return headers


def parsed(body: bytes) -> tuple[Any, Exception | None]:
    try:
        return decode(body), None
    except BadJson as wrong:
        return None, wrong
