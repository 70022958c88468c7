"""The table of routes: whole, described, and the same rights everywhere."""

from __future__ import annotations

import pytest

from twinlog.servers.http.api import ALL_ROUTES
from twinlog.servers.http.api.documents import GROUP_TEXT, openapi
from twinlog.servers.http.message import HttpError, Request
from twinlog.servers.http.router import ADMINISTRATOR, ANYBODY, POLICYMAKER, USER, VHOST, Route, Router

OPEN_TO_ANYBODY = {
    "GET /",
    "GET /api",
    "GET /api.css",
    "GET /api/auth",
    "GET /api/openapi.json",
    "GET /api/version",
    "GET /assets/{name}",
    "GET /favicon.svg",
    "GET /health/live",
    "GET /health/ready",
    "POST /api/session",
}


def request(method: str) -> Request:
    return Request(method, "", {}, {}, {}, ("", 0), ("", 0))


def test_only_these_answer_without_a_login() -> None:
    assert {f"{route.method} {route.path}" for route in ALL_ROUTES if route.needs == ANYBODY} == OPEN_TO_ANYBODY


def test_whoever_looks_needs_no_more_than_whoever_changes() -> None:
    order = (ANYBODY, USER, VHOST, POLICYMAKER, ADMINISTRATOR)
    looks = {route.path: route for route in ALL_ROUTES if route.method == "GET" and route.needs in order}
    for route in ALL_ROUTES:
        look = looks.get(route.path)
        if route.method != "GET" and look is not None and route.needs in order and route.path != "/api/session":
            assert order.index(look.needs) <= order.index(route.needs), route


def test_every_route_of_a_vhost_checks_the_vhost_or_needs_an_administrator() -> None:
    for route in ALL_ROUTES:
        if "{vhost}" in route.parts:
            assert route.needs in (VHOST, POLICYMAKER, ADMINISTRATOR), route


def test_every_route_is_told_in_the_document() -> None:
    paths = openapi(ALL_ROUTES, "1")["paths"]
    for route in ALL_ROUTES:
        assert route.group in GROUP_TEXT, route
        assert route.summary.endswith("."), route
        assert route.group == "console" or route.method.lower() in paths[route.path], route


def test_fixed_words_go_before_names_and_unknown_paths_are_404() -> None:
    router = Router(ALL_ROUTES)
    assert router.find(request("GET"), ["api", "queues", "detailed"]).path == "/api/queues/detailed"
    asked = request("GET")
    assert router.find(asked, ["api", "queues", "/", "q"]).path == "/api/queues/{vhost}/{name}"
    assert asked.parameters == {"vhost": "/", "name": "q"}
    with pytest.raises(HttpError) as refusal:
        router.find(request("GET"), ["api", "no", "such", "thing", "here", "at", "all"])
    assert refusal.value.status == 404


def test_two_routes_of_one_shape_are_a_bug() -> None:
    one = Route("GET", ("a", "{b}"), USER, lambda managed, request: None, "x.", "node")  # type: ignore[arg-type,return-value]
    other = Route("GET", ("a", "{c}"), USER, lambda managed, request: None, "x.", "node")  # type: ignore[arg-type,return-value]
    with pytest.raises(AssertionError):
        Router([one, other])
