"""Hostile requests on the HTTP port, H1 to H11. While each is tried another client is answered, and afterwards the
broker lives, has told no secret, and holds no more memory than before."""

from __future__ import annotations

import contextlib
import json
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from statistics import median
from urllib.parse import quote

import pytest

from tests.compat.target import resident_bytes
from tests.kit.http import Answer, Api, raw
from twinlog.base.address import parse_address
from twinlog.servers.http.api import ALL_ROUTES
from twinlog.servers.http.router import ADMINISTRATOR, ANYBODY, MONITOR, POLICYMAKER, USER, VHOST, Route
from twinlog.testing import Broker

MEMORY_GROWTH_MAX = 32 << 20
BYSTANDER_WAIT_MAX_S = 5.0
PASSWORD = "a secret that nobody tells"
EVIL = "https://evil.example"


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    settings = {
        "http.listen": "127.0.0.1:0",
        "http.header_wait_max_ms": 1500,
        "http.body_wait_max_ms": 1500,
        "http.idle_max_ms": 3000,
    }
    with Broker(settings=settings) as broker:
        api = Api(broker.http)
        for user, tags in (
            ("watcher", "monitoring"),
            ("manager", "management"),
            ("maker", "policymaker"),
            ("app", ""),
            ("locked", ""),
        ):
            api.put(f"/api/users/{user}", {"password": PASSWORD, "tags": tags})
        for user in ("manager", "maker"):
            api.put(f"/api/permissions/%2F/{user}", {"configure": "", "write": "", "read": ""})
        api.put("/api/vhosts/other")
        api.put("/api/users/stranger", {"password": PASSWORD, "tags": "management,policymaker"})
        api.put("/api/permissions/other/stranger", {"configure": ".*", "write": ".*", "read": ".*"})
        api.call("GET", "/metrics")
        yield broker


@pytest.fixture
def api(broker: Broker) -> Iterator[Api]:
    """Checks around each test what must hold whatever is sent."""
    api = Api(broker.http)
    queues = len(api.get("/api/queues"))
    memory = resident_bytes(broker.pid)
    said = len(broker.log)
    waits: list[float] = []
    over = threading.Event()

    def bystander() -> None:
        while not over.wait(0.02):
            began = time.monotonic()
            if api.call("GET", "/api/whoami").status == 200:
                waits.append(time.monotonic() - began)

    other = threading.Thread(target=bystander)
    other.start()
    try:
        yield api
        while not waits and other.is_alive():
            over.wait(0.01)
    finally:
        over.set()
        other.join()
    assert broker.running
    assert waits and max(waits) < BYSTANDER_WAIT_MAX_S
    assert len(api.get("/api/queues")) == queues
    assert resident_bytes(broker.pid) - memory < MEMORY_GROWTH_MAX
    told = broker.log[said:]
    assert "Traceback" not in told
    assert PASSWORD not in told
    assert all(line.isprintable() for line in told.splitlines()), "no line is forged, no terminal is steered"


def statuses(data: bytes) -> list[int]:
    return [int(each) for each in re.findall(rb"HTTP/1\.1 (\d{3})", data)]


def head(api: Api, line: str, *headers: str) -> bytes:
    lines = [f"{line} HTTP/1.1", f"Host: {api.address}", "Authorization: Basic Z3Vlc3Q6Z3Vlc3Q=", *headers]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


# ---- H1: targets


@pytest.mark.parametrize(
    ("target", "allowed"),
    [
        ("/assets/..%2f..%2f__init__.py", {404}),
        ("/assets/%2e%2e/ports.py", {400, 404}),
        ("/../../etc/passwd", {400}),
        ("/assets/..\\..\\x", {400}),
        ("/api/queues/%252e%252e/x", {404}),
        ("/api/queues/%00/x", {400}),
        ("/api/queues/%ff%fe/x", {400}),
        ("/api/queues/%zz/x", {400}),
        ("http://127.0.0.1/api/whoami", {400}),
        ("//evil.example/api", {400}),
        ("*", {400}),
        ("/" + "a" * 9000, {414, 431, 400}),
        ("/api/queues/%2F/" + "x" * 4000, {404}),
        ("/api/queues?" + "&".join(f"a{n}=1" for n in range(500)), {400}),
    ],
)
def test_h01_targets_that_mean_something_else(api: Api, target: str, allowed: set[int]) -> None:
    (status,) = statuses(raw(api.address, head(api, f"GET {target}", "Connection: close")))
    assert status in allowed


# ---- H3, H4, H5: other people's pages


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": EVIL},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Content-Type": "text/plain"},
        {"Content-Type": "application/x-www-form-urlencoded"},
        {"Content-Type": "multipart/form-data; boundary=x"},
    ],
)
def test_h03_a_page_from_elsewhere_changes_nothing(api: Api, headers: dict[str, str]) -> None:
    for asker in (api, api.browser()):
        answer = asker.call("PUT", "/api/vhosts/forged", {}, headers)
        assert answer.status == 403, (headers, answer)
    assert api.call("GET", "/api/vhosts/forged").status == 404


def test_h03_a_cookie_without_its_token_changes_nothing(api: Api) -> None:
    browser = api.browser()
    for forged in (browser.without_token(), Api(api.address, None, extra={**browser.extra, "X-CSRF-Token": "0" * 64})):
        assert forged.call("GET", "/api/overview").status == 200
        assert forged.call("PUT", "/api/vhosts/forged", {}).status == 403
        assert forged.call("DELETE", "/api/session").status == 403


@pytest.mark.parametrize("origin", [EVIL, "null", "http://127.0.0.1.evil.example"])
def test_h04_nobody_is_let_read_across_origins(api: Api, origin: str) -> None:
    headers = {
        "Origin": origin,
        "Access-Control-Request-Method": "PUT",
        "Access-Control-Request-Headers": "x-csrf-token",
    }
    for method in ("OPTIONS", "GET"):
        answer = api.call(method, "/api/overview", None, headers)
        assert answer.status == 403
        assert not [name for name in answer.headers if name.startswith("access-control")]


def test_h04_an_allowed_origin_is_exact_and_a_wildcard_is_no_setting() -> None:
    with Broker(settings={"http.listen": "127.0.0.1:0", "http.cors_origins": "https://console.example"}) as broker:
        api = Api(broker.http)
        good = api.call("GET", "/api/overview", None, {"Origin": "https://console.example"})
        assert good.headers["access-control-allow-origin"] == "https://console.example"
        assert api.call("GET", "/api/overview", None, {"Origin": "https://console.example.evil"}).status == 403
    with pytest.raises(Exception, match="it must be a list of origins"):
        Broker(settings={"http.listen": "127.0.0.1:0", "http.cors_origins": "*"}).start()


def test_h05_live_figures_are_not_for_other_pages(api: Api) -> None:
    answer = api.call("GET", "/api/events", None, {"Origin": EVIL})
    assert (answer.status, answer.headers["content-type"]) == (403, "application/json")


def test_h05_a_name_that_was_pointed_at_this_machine_is_not_its_name(api: Api) -> None:
    """What a page could do by changing its own name's address after it was loaded."""
    answer = api.call("GET", "/api/whoami", None, {"Host": "evil.example:15672"})
    assert answer.status == 421


# ---- H6: bodies


def bodies() -> Iterator[tuple[str, bytes]]:
    yield "deep", b"[" * 200_000
    yield "deep objects", b'{"a":' * 100_000
    yield "digits", b'{"durable": ' + b"9" * 100_000 + b"}"
    yield "NaN", b'{"durable": NaN}'
    yield "twice", b'{"durable": true, "durable": false}'
    yield "wrong type", b'{"durable": "perhaps", "arguments": 7}'
    yield "arguments of a wrong type", b'{"arguments": {"x-max-length": {"a": [1]}}}'
    yield "a number beyond 64 bits", b'{"arguments": {"x": 18446744073709551616}}'
    yield "no object", b"[1, 2]"
    yield "not JSON", b"\xff\x00{"
    yield "lone surrogate", b'{"arguments": {"x": "\\ud800"}}'


@pytest.mark.parametrize(("what", "body"), list(bodies()))
def test_h06_bodies_that_lie_or_cost(api: Api, what: str, body: bytes) -> None:
    began = time.monotonic()
    answer = api.call("PUT", "/api/queues/%2F/hostile", body)
    assert answer.status == 400, (what, answer)
    assert time.monotonic() - began < BYSTANDER_WAIT_MAX_S


def test_h06_a_body_of_a_gibibyte_is_refused_by_its_length(api: Api) -> None:
    request = head(api, "PUT /api/queues/%2F/x", "Content-Type: application/json", f"Content-Length: {1 << 30}")
    assert statuses(raw(api.address, request + bytes(100_000))) == [413]


def test_h06_endless_chunks_end(api: Api) -> None:
    request = head(api, "PUT /api/queues/%2F/x", "Content-Type: application/json", "Transfer-Encoding: chunked")
    chunk = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
    assert statuses(raw(api.address, request + chunk * 400)) == [413]


# ---- H7: the wire


def wires() -> Iterator[tuple[str, Callable[[Api], bytes], set[int]]]:
    json_type = "Content-Type: application/json"
    yield (
        "a length and chunks",
        lambda api: head(api, "PUT /api/vhosts/x", json_type, "Content-Length: 4", "Transfer-Encoding: chunked"),
        {400},
    )
    yield "two lengths", lambda api: head(api, "PUT /api/vhosts/x", "Content-Length: 4", "Content-Length: 5"), {400}
    yield "no length", lambda api: head(api, "PUT /api/vhosts/x", "Content-Length: -1"), {400}
    yield "another coding", lambda api: head(api, "PUT /api/vhosts/x", "Transfer-Encoding: gzip, chunked"), {400, 501}
    yield (
        "a bad chunk",
        lambda api: head(api, "PUT /api/vhosts/x", json_type, "Transfer-Encoding: chunked") + b"zz\r\n{}\r\n0\r\n\r\n",
        {400},
    )
    yield "a huge header", lambda api: head(api, "GET /api/whoami", "X: " + "a" * 1_000_000), {431, 400}
    yield "many headers", lambda api: head(api, "GET /api/whoami", *(f"X-{n}: 1" for n in range(1000))), {431, 400}
    yield "two hosts", lambda api: head(api, "GET /api/whoami", "Host: other"), {400}
    yield "no host", lambda api: b"GET /health/live HTTP/1.1\r\n\r\n", {400}
    yield "no version", lambda api: b"GET /health/live\r\n\r\n", {400}
    yield "a folded header", lambda api: head(api, "GET /health/live", "X: a", " b"), {200, 400}
    yield "a NUL in a header", lambda api: head(api, "GET /health/live", "X: a\0b"), {400}
    yield "another protocol", lambda api: b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", {400, 501, 505}
    yield "a TLS greeting", lambda api: bytes.fromhex("16030100c8010000c40303") + bytes(200) + b"\r\n\r\n", {400}
    yield "another method", lambda api: head(api, "BREW /api/whoami"), {501}
    yield "a tunnel", lambda api: head(api, "CONNECT 127.0.0.1:22"), {400, 501}


@pytest.mark.parametrize(
    ("what", "data", "allowed"), list(wires()), ids=lambda each: each if isinstance(each, str) else ""
)
def test_h07_what_is_no_clean_http_is_refused_and_closed(
    api: Api, what: str, data: Callable[[Api], bytes], allowed: set[int]
) -> None:
    found = statuses(raw(api.address, data(api)))
    assert found[-1:] and found[-1] in allowed, (what, found)


def test_h07_ten_thousand_requests_at_once_are_answered_one_by_one(api: Api) -> None:
    request = head(api, "GET /health/live")
    last = head(api, "GET /health/live", "Connection: close")
    host, port = parse_address(api.address)
    with socket.create_connection((host, port), 60) as link:
        sender = threading.Thread(target=lambda: link.sendall(request * 9_999 + last))
        sender.start()
        received = 0
        tail = b""
        while piece := link.recv(1 << 20):
            data = tail + piece
            received += data.count(b"HTTP/1.1 200")
            tail = data[-11:]
        sender.join()
    assert received == 10_000


def test_h07_a_byte_now_and_then_is_not_waited_for(api: Api) -> None:
    host, port = parse_address(api.address)
    with socket.create_connection((host, port), 20) as link:
        answer = b""
        began = time.monotonic()
        link.settimeout(0.3)
        for sign in head(api, "GET /api/whoami")[:40]:
            with contextlib.suppress(OSError):
                link.sendall(bytes([sign]))
            try:
                piece = link.recv(4096)
            except TimeoutError:
                continue
            except OSError:
                break
            if not piece:
                break
            answer += piece
        assert time.monotonic() - began < 12
    assert statuses(answer) in ([408], [])


def test_h07_connections_that_say_nothing_are_let_go(api: Api) -> None:
    host, port = parse_address(api.address)
    links = [socket.create_connection((host, port), 20) for _ in range(60)]
    for link in links:
        assert link.recv(10) == b""
        link.close()


# ---- H8: who may do what

ROLES = {
    "nobody": (None, frozenset()),
    "app": ("app", frozenset()),
    "manager": ("manager", frozenset({USER, VHOST})),
    "maker": ("maker", frozenset({USER, VHOST, POLICYMAKER})),
    "watcher": ("watcher", frozenset({USER, MONITOR})),
    "stranger": ("stranger", frozenset({USER})),
}


def path_of(route: Route) -> str:
    words = {"{vhost}": "%2F", "{port}": "1", "{user}": "app"}
    return "/" + "/".join(words.get(part, "no-such" if part.startswith("{") else part) for part in route.parts)


@pytest.mark.parametrize("role", sorted(ROLES))
def test_h08_every_route_lets_in_exactly_whom_it_says(api: Api, role: str) -> None:
    """The router's answer alone: a body that cannot be read stops whoever was let in before anything happens."""
    user, may = ROLES[role]
    asker = api.as_user(user, PASSWORD)
    wrong = []
    for route in ALL_ROUTES:
        if route.streams or route.needs == ANYBODY or route.method == "DELETE":
            continue
        if role == "watcher" and route.needs in (VHOST, POLICYMAKER) and route.method == "GET":
            expected = route.needs == VHOST  # who watches over the node looks into every vhost
        elif role == "stranger" and route.needs == POLICYMAKER and "{vhost}" not in route.parts:
            expected = True
        else:
            expected = route.needs in may
        body = None if route.body is None else b"not json"
        answer = asker.call(route.method, path_of(route), body)
        let_in = answer.status not in (401, 403) or "refused for user" in answer.body.decode()
        if let_in != expected:
            wrong.append((route.method, route.path, route.needs, answer.status))
    assert not wrong


def test_h08_deleting_takes_the_same_rights_as_the_wire(api: Api) -> None:
    api.put("/api/queues/%2F/kept")
    for user in ("manager", "maker", "watcher", "stranger", "app"):
        asker = api.as_user(user, PASSWORD)
        for path in ("/api/queues/%2F/kept", "/api/vhosts/%2F", "/api/users/app", "/api/exchanges/%2F/amq.topic",
                     "/api/topics/no-such", "/api/groups/no-such", "/api/permissions/%2F/guest"):  # fmt: skip
            assert asker.call("DELETE", path).status == 401, (user, path)
    api.delete("/api/queues/%2F/kept")


def test_h08_administrator_needed_routes_name_what_is_missing(api: Api) -> None:
    answer = api.as_user("manager", PASSWORD).call("GET", "/api/users")
    assert (answer.status, answer.reason) == (401, "Not administrator user")
    assert ADMINISTRATOR in {route.needs for route in ALL_ROUTES}


# ---- H9: secrets


def test_h09_no_answer_holds_a_secret_or_a_stack(api: Api) -> None:
    for route in ALL_ROUTES:
        if route.method == "GET" and not route.streams and not any(part.startswith("{") for part in route.parts):
            for asker in (api, api.as_user(None)):
                answer = asker.call("GET", route.path)
                assert PASSWORD.encode() not in answer.body, route.path
                assert b"Traceback" not in answer.body, route.path
                assert answer.status < 500, (route.path, answer)
    for path in ("/health/live", "/health/ready", "/api/version"):
        assert len(api.as_user(None).call("GET", path).body) < 100


@pytest.mark.parametrize("sign", ["\r\n", "\x1b[31m", "\u202e", "\x07", '"', "\u2028"])
def test_h09_names_do_not_write_the_log(api: Api, broker: Broker, sign: str) -> None:
    body = json.dumps({"name": f"evil{sign}line", "password": "x"}).encode()
    assert api.as_user(None).call("POST", "/api/session", body).status in (401, 429)
    assert f"evil{sign}line" not in broker.log or sign == '"'


def test_h09_a_reason_header_is_no_way_into_anything(api: Api) -> None:
    answer = api.call("DELETE", "/api/connections/no-such", None, {"X-Reason": "<script>\x1b[31m</script>"})
    assert answer.status == 404
    assert b"script" not in answer.body


# ---- H10: logins


def test_h10_a_thousand_wrong_logins_are_held_back(broker: Broker) -> None:
    api = Api(broker.http)
    browser = api.browser()
    wrong = api.as_user("locked", "wrong")
    found = [wrong.call("GET", "/api/whoami").status for _ in range(200)]
    assert found.count(401) <= 8
    assert found[-1] == 429
    assert browser.call("GET", "/api/whoami").status == 200, "who is in stays in"


def test_h10_a_user_who_does_not_exist_takes_as_long(api: Api) -> None:
    def times(user: str) -> float:
        spent = []
        for number in range(4):
            began = time.perf_counter()
            api.as_user(f"{user}{number}" if user == "ghost" else user, "wrong").call("GET", "/api/whoami")
            spent.append(time.perf_counter() - began)
        return median(spent)

    assert abs(times("app") - times("ghost")) < 0.05


def test_h10_sessions_are_not_fixed_guessed_or_reused(api: Api) -> None:
    for value in ("", "0" * 64, "x", "a" * 4000, "%00", "../../x"):
        planted = Api(api.address, None, extra={"Cookie": f"twinlog_session={value}"})
        assert planted.call("GET", "/api/whoami").status == 401
    browser = api.browser()
    browser.delete("/api/session")
    assert browser.call("GET", "/api/overview").status == 401


# ---- H11: expressions and names


EXPRESSIONS = ["(a+)+$", "(.*a){25}", "(?:a|a)*b", "[[:word:]]{1000}", "(" * 500, "a" * 2000, "(?P<x>a)(?P=x)"]


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_h11_expressions_are_linear_or_refused(api: Api, text: str) -> None:
    api.put(f"/api/vhosts/h11-{len(text)}")
    vhost = f"h11-{len(text)}"
    api.put(f"/api/queues/{vhost}/{'a' * 200}%21", {"durable": False})
    began = time.monotonic()
    answer = api.call("GET", f"/api/queues/{vhost}?use_regex=true&name={quote(text)}")
    assert answer.status in (200, 400)
    assert time.monotonic() - began < 2
    api.delete(f"/api/vhosts/{vhost}")


CODE = ["{0.__class__}", "${7*7}", "{{7*7}}", "%s%s%n", "<%= 7*7 %>", "http://169.254.169.254/", "file:///etc/passwd"]


@pytest.mark.parametrize("text", CODE)
def test_h11_nothing_that_is_sent_is_evaluated(api: Api, text: str) -> None:
    answers: list[Answer] = [
        api.call("GET", f"/api/queues/%2F/{quote(text, safe='')}"),
        api.call("GET", f"/api/queues?name={quote(text)}&columns={quote(text)}&sort={quote(text)}&page=1"),
        api.call("PUT", "/api/policies/%2F/p", {"pattern": text, "definition": {text: text}}),
        api.call("PUT", f"/api/parameters/shovel/%2F/{quote(text, safe='')}", {"value": {"src-uri": text}}),
    ]
    for answer in answers:
        assert answer.status in (200, 400, 404)
        assert b"49" not in answer.body
        assert b"root:" not in answer.body


def test_h11_many_names_in_paths_leave_nothing_behind(api: Api, broker: Broker) -> None:
    host, port = parse_address(api.address)
    before = len(api.call("GET", "/metrics").body)
    with socket.create_connection((host, port), 60) as link:
        requests = b"".join(head(api, f"GET /api/queues/%2F/name-{number}") for number in range(3000))
        sender = threading.Thread(target=lambda: link.sendall(requests + head(api, "GET /x", "Connection: close")))
        sender.start()
        while link.recv(1 << 20):
            pass
        sender.join()
    assert len(api.call("GET", "/metrics").body) - before < 2000
