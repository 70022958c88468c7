"""The API about itself: an OpenAPI document, and a page of it without scripts or anything from elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any, Final

from twinlog.servers.http.message import Request, Response, ok
from twinlog.servers.http.ports import Managed
from twinlog.servers.http.router import ADMINISTRATOR, ANYBODY, MONITOR, POLICYMAKER, USER, VHOST, Route, Routes

routes = Routes("documents")

NEEDS_TEXT: Final = {
    ANYBODY: "nobody's login",
    USER: "a user with a management tag",
    VHOST: "a user who may enter the vhost",
    POLICYMAKER: "the tag policymaker or administrator",
    MONITOR: "the tag monitoring or administrator",
    ADMINISTRATOR: "the tag administrator",
}
GROUP_TEXT: Final = {
    "node": "The node",
    "sessions": "Logging in",
    "vhosts": "Vhosts",
    "users": "Users",
    "permissions": "Permissions",
    "policies": "Policies",
    "limits": "Limits and parameters",
    "exchanges": "Exchanges",
    "queues": "Queues",
    "messages": "Messages of queues",
    "bindings": "Bindings",
    "clients": "Connections, channels, consumers",
    "definitions": "Definitions",
    "topics": "Topics",
    "records": "Records of topics",
    "groups": "Consumer groups",
    "transactions": "Transactions",
    "quotas": "Quotas",
    "pipelines": "Pipelines on Spark",
    "health": "Health",
    "events": "Live figures",
    "metrics": "Metrics",
    "documents": "This description",
    "console": "The console",
}


def openapi(all_routes: Sequence[Route], version: str) -> dict[str, Any]:
    paths: dict[str, dict[str, Any]] = {}
    for route in all_routes:
        if route.group == "console":
            continue
        paths.setdefault(route.path, {})[route.method.lower()] = operation(route)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Twinlog",
            "version": version,
            "description": "The management API: RabbitMQ's, and the same for Kafka's things.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "tags": [{"name": name, "description": told} for name, told in GROUP_TEXT.items() if name != "console"],
        "components": {
            "securitySchemes": {
                "basic": {"type": "http", "scheme": "basic"},
                "session": {"type": "apiKey", "in": "cookie", "name": "twinlog_session"},
            },
            "schemas": {
                "Error": {
                    "type": "object",
                    "properties": {"error": {"type": "string"}, "reason": {"type": "string"}},
                    "required": ["error", "reason"],
                }
            },
        },
        "paths": paths,
    }


def operation(route: Route) -> dict[str, Any]:
    named = [part[1:-1] for part in route.parts if part.startswith("{")]
    content_type = "text/event-stream" if route.streams else "application/json"
    good: dict[str, Any] = {"description": "done"}
    if route.answers == 200:
        good["content"] = {content_type: {"schema": {}}}
    answers: dict[str, Any] = {str(route.answers): good}
    if route.method == "PUT" and route.answers == 201:
        answers["204"] = {"description": "it was there already"}
    error = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}}
    answers["default"] = {"description": "refused, and why", **error}
    told: dict[str, Any] = {
        "operationId": operation_id(route),
        "summary": route.summary,
        "description": f"Needs {NEEDS_TEXT[route.needs]}.",
        "tags": [route.group],
        "security": [] if route.needs == ANYBODY else [{"basic": []}, {"session": []}],
        "parameters": [
            *({"name": name, "in": "path", "required": True, "schema": {"type": "string"}} for name in named),
            *(
                {"name": name, "in": "query", "description": text, "schema": {"type": "string"}}
                for name, text in route.query
            ),
        ],
        "responses": answers,
    }
    if route.body is not None:
        fields = {name: {"description": text} for name, text in route.body}
        told["requestBody"] = {
            "content": {"application/json": {"schema": {"type": "object", "properties": fields}}},
        }
    return told


def operation_id(route: Route) -> str:
    words = [part.strip("{}").replace("-", "_").replace(".", "_") for part in route.parts if part]
    return "_".join([route.method.lower(), *words])


@routes.get("/api/openapi.json", ANYBODY, "This API as an OpenAPI 3.1 document.")
def document(managed: Managed, request: Request) -> Response:
    return ok(openapi(managed.routes, managed.version))


@routes.get("/api", ANYBODY, "This API as a page to read.")
def page(managed: Managed, request: Request) -> Response:
    return Response(200, html(managed.routes, managed.version).encode(), "text/html; charset=utf-8")


def html(all_routes: Sequence[Route], version: str) -> str:
    parts = [
        "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width'>"
        "<title>Twinlog API</title><link rel=stylesheet href=/api.css>"
        f"<main><h1>Twinlog {escape(version)}: HTTP API</h1>"
        "<p>RabbitMQ's management API, and the same for Kafka's things. Names in paths are percent-encoded: the vhost "
        "<code>/</code> is <code>%2F</code>. Errors are <code>{&quot;error&quot;, &quot;reason&quot;}</code>. "
        "<a href=/api/openapi.json>OpenAPI document</a></p>"
    ]
    for group, told in GROUP_TEXT.items():
        mine = [route for route in all_routes if route.group == group and group != "console"]
        if not mine:
            continue
        parts.append(f"<h2>{escape(told)}</h2><table><tr><th>Request<th>What it does<th>Needs</tr>")
        for route in mine:
            more = "".join(
                f"<br><small><code>{escape(name)}</code> {escape(text)}</small>"
                for name, text in [*route.query, *(route.body or ())]
            )
            parts.append(
                f"<tr><td><b>{route.method}</b> <code>{escape(route.path)}</code><td>{escape(route.summary)}{more}"
                f"<td>{escape(NEEDS_TEXT[route.needs])}</tr>"
            )
        parts.append("</table>")
    parts.append("</main></html>")
    return "".join(parts)


MARKDOWN_HEAD: Final = """# HTTP API

Made from the program by `make docs`: change the declarations, not this page.

On port 15672: RabbitMQ's management API, and the same for Kafka's things. Tools log in by Basic credentials with each
request. Names in paths are percent-encoded, so the vhost `/` is `%2F`. Bodies are JSON and declared so. Lists take
`page`, `page_size`, `name`, `use_regex`, `sort`, `sort_reverse` and `columns`. Errors are
`{"error": ..., "reason": ...}`. A running broker tells the same at `/api`, and as an OpenAPI document at
`/api/openapi.json`.
"""


def markdown(all_routes: Sequence[Route]) -> str:
    parts = [MARKDOWN_HEAD]
    for group, told in GROUP_TEXT.items():
        mine = [route for route in all_routes if route.group == group and group != "console"]
        if mine:
            parts.append(f"\n## {told}\n\n| request | what it does | needs |\n| --- | --- | --- |\n")
            parts += [f"| `{each.method} {each.path}` | {each.summary} | {NEEDS_TEXT[each.needs]} |\n" for each in mine]
    return "".join(parts)


STYLE: Final = """
:root{color-scheme:light dark;font:15px/1.5 system-ui,sans-serif}
main{max-width:70rem;margin:2rem auto;padding:0 1rem}
table{border-collapse:collapse;width:100%}
th,td{text-align:left;vertical-align:top;padding:.4rem .6rem;border-top:1px solid #8884}
code{font:13px ui-monospace,monospace}
"""


@routes.get("/api.css", ANYBODY, "How that page looks.")
def style(managed: Managed, request: Request) -> Response:
    return Response(200, STYLE.encode(), "text/css; charset=utf-8", cache="max-age=3600")
