"""Logging in and out, and who one is."""

from __future__ import annotations

from typing import Final

from twinlog.servers.http.bodies import body_of, text
from twinlog.servers.http.guard import COOKIE, cookie
from twinlog.servers.http.message import Request, Response, bad_request, no_content, ok
from twinlog.servers.http.ports import Managed
from twinlog.servers.http.router import ANYBODY, USER, Routes
from twinlog.servers.http.sessions import Session

routes = Routes("sessions")

PASSWORD_MAX: Final = 1024


@routes.get("/api/whoami", USER, "The user who asks.")
def whoami(managed: Managed, request: Request) -> Response:
    assert request.asker is not None
    return ok({"name": request.user, "tags": sorted(request.asker.tags), "is_internal_user": False})


@routes.post(
    "/api/session",
    ANYBODY,
    "Logs a browser in: sets a session cookie, answers the token for the header X-CSRF-Token.",
    body=(("name", "the user"), ("password", "the password")),
)
def login(managed: Managed, request: Request) -> Response:
    body = body_of(request)
    name, password = text(body, "name"), text(body, "password")
    if len(password) > PASSWORD_MAX:
        raise bad_request("the password is too long")
    guard = managed.guard
    asker = guard.login(name, password.encode(), request)
    before = cookie(request.headers, COOKIE)
    if before:
        guard.sessions.end(before)
    session_id, session = guard.sessions.begin(name, guard.password_mark(name))
    response = ok({"name": name, "tags": sorted(asker.tags), "token": session.token})
    response.headers.append(("Set-Cookie", f"{COOKIE}={session_id}; Path=/; HttpOnly; SameSite=Strict"))
    return response


@routes.get("/api/session", USER, "The session's user and token, for a page that was loaded again.")
def session(managed: Managed, request: Request) -> Response:
    assert request.asker is not None
    known = request.asker.session
    token = known.token if isinstance(known, Session) else None
    return ok({"name": request.user, "tags": sorted(request.asker.tags), "token": token})


@routes.delete("/api/session", USER, "Logs out: the session is over at once.")
def logout(managed: Managed, request: Request) -> Response:
    managed.guard.sessions.end(cookie(request.headers, COOKIE))
    response = no_content()
    response.headers.append(("Set-Cookie", f"{COOKIE}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0"))
    return response
