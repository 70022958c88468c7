"""Logging in, staying in, going out."""

from __future__ import annotations

import json
import socket

from tests.kit.http import Api
from twinlog.base.address import parse_address


def test_a_browser_logs_in_changes_something_and_logs_out(api: Api, name: str) -> None:
    browser = api.browser()
    assert "HttpOnly" in browser.cookie
    assert "SameSite=Strict" in browser.cookie
    assert browser.get("/api/session")["name"] == "guest"
    assert browser.put(f"/api/vhosts/{name}") == 201
    browser.delete(f"/api/vhosts/{name}")
    browser.delete("/api/session")
    assert browser.call("GET", "/api/session").status == 401, "what was logged out stays out"


def test_every_login_gets_another_session(api: Api) -> None:
    first, second = api.browser(), api.browser()
    assert first.extra["Cookie"] != second.extra["Cookie"]
    planted = Api(api.address, None, extra={"Cookie": "twinlog_session=planted"})
    answer = planted.call("POST", "/api/session", {"name": "guest", "password": "guest"})
    assert "planted" not in answer.headers["set-cookie"]


def test_a_new_password_ends_the_sessions_of_the_old_one(api: Api, name: str) -> None:
    api.put(f"/api/users/{name}", {"password": "secret", "tags": "monitoring"})
    browser = api.browser(name, "secret")
    assert browser.call("GET", "/api/overview").status == 200
    api.put(f"/api/users/{name}", {"password": "other", "tags": "monitoring"})
    assert browser.call("GET", "/api/overview").status == 401
    api.delete(f"/api/users/{name}")


def test_wrong_passwords_make_the_next_try_wait(api: Api, name: str) -> None:
    api.put(f"/api/users/{name}", {"password": "secret", "tags": "monitoring"})
    wrong = api.as_user(name, "wrong")
    statuses = [wrong.call("GET", "/api/whoami").status for _ in range(8)]
    assert statuses[:5] == [401] * 5
    assert statuses[-1] == 429
    right = api.as_user(name, "secret").call("GET", "/api/whoami")
    assert (right.status, int(right.headers["retry-after"]) >= 1) == (429, True)
    assert api.call("GET", "/api/whoami").status == 200, "another user is not kept waiting"
    api.delete(f"/api/users/{name}")


def test_only_a_tool_is_asked_for_basic_credentials(api: Api) -> None:
    nobody = api.as_user(None)
    assert "www-authenticate" in nobody.call("GET", "/api/overview").headers
    from_a_page = nobody.call("GET", "/api/overview", headers={"Sec-Fetch-Mode": "cors"})
    assert (from_a_page.status, "www-authenticate" in from_a_page.headers) == (401, False)


def test_live_figures_come_as_events(api: Api) -> None:
    host, port = parse_address(api.address)
    browser = api.browser()
    with socket.create_connection((host, port), 20) as link:
        link.sendall(
            f"GET /api/events?every_ms=500 HTTP/1.1\r\nHost: {api.address}\r\n"
            f"Cookie: {browser.extra['Cookie']}\r\n\r\n".encode()
        )
        received = b""
        while received.count(b"event: overview") < 3:
            piece = link.recv(65536)
            assert piece, received
            received += piece
    assert b"text/event-stream" in received
    line = next(line for line in received.split(b"\n") if line.startswith(b"data: "))
    assert json.loads(line[6:])["product_name"] == "Twinlog"
