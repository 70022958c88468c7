"""Live figures as server-sent events: one stream a page, ended when the peer does not keep up."""

from __future__ import annotations

from typing import Final

from twinlog.host import Timer
from twinlog.servers.http.api.overview import overview_view
from twinlog.servers.http.json_text import encode
from twinlog.servers.http.message import HttpError, Request, Response, Sink
from twinlog.servers.http.ports import Managed
from twinlog.servers.http.router import USER, Routes

routes = Routes("events")

EVERY_MS_DEFAULT: Final = 2000
EVERY_MS_MIN: Final = 500
SKIPPED_MAX: Final = 5


class Stream:
    """Writes the overview again and again. A peer that leaves five samples unread is let go."""

    def __init__(self, managed: Managed, request: Request, every_ms: int) -> None:
        self._managed = managed
        self._request = request
        self._every_ms = every_ms
        self._skipped = 0
        self._timer: Timer | None = None

    def begin(self, sink: Sink) -> None:
        self._managed.event_streams += 1
        sink.write(b"retry: 3000\n\n")
        self._write(sink)

    def _write(self, sink: Sink) -> None:
        if sink.closed:
            self._managed.event_streams -= 1
            return
        guard, asker = self._managed.guard, self._request.asker
        assert asker is not None
        if not guard.still_welcome(asker) or self._skipped >= SKIPPED_MAX:
            self._managed.event_streams -= 1
            sink.close()
            return
        data = encode(overview_view(self._managed, self._request))
        self._skipped = 0 if sink.write(b"event: overview\ndata: " + data + b"\n\n") else self._skipped + 1
        self._timer = self._managed.tasks.later(self._every_ms, self._write, sink)


@routes.get(
    "/api/events",
    USER,
    "Live figures as server-sent events: the overview, again and again.",
    query=(("every_ms", "pause between two; from 500"),),
    streams=True,
)
def events(managed: Managed, request: Request) -> Response:
    if managed.event_streams >= managed.settings.event_streams_max:
        raise HttpError(503, "unavailable", "too many streams of live figures", [("Retry-After", "30")])
    every_ms = request.number("every_ms", EVERY_MS_DEFAULT, EVERY_MS_MIN, 60_000)
    stream = Stream(managed, request, every_ms)
    return Response(200, content_type="text/event-stream", stream=stream.begin)
