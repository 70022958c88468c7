"""The console's files: what was built, by exactly the names it was built under, and nothing else."""

from __future__ import annotations

from typing import Final

from twinlog.servers.http.message import Request, Response, not_found
from twinlog.servers.http.ports import Managed
from twinlog.servers.http.router import ANYBODY, Routes

routes = Routes("console")

INDEX: Final = "index.html"
TYPES: Final = {
    "css": "text/css; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "ico": "image/x-icon",
    "js": "text/javascript; charset=utf-8",
    "json": "application/json",
    "png": "image/png",
    "svg": "image/svg+xml",
    "webmanifest": "application/manifest+json",
    "woff2": "font/woff2",
}
NOT_BUILT: Final = (
    "<!doctype html><html lang=en><meta charset=utf-8><title>Twinlog</title><h1>The console was not built</h1>"
    "<p>This installation has no console: it is built by <code>make console</code>, which needs npm. "
    "The <a href=/api>HTTP API</a> is here without it.</p></html>"
)


def file_response(managed: Managed, request: Request, name: str, cache: str) -> Response:
    found = managed.static.read(name)
    if found is None:
        raise not_found()
    content, tag = found
    headers = [("ETag", f'"{tag}"')]
    if request.headers.get("if-none-match") == f'"{tag}"':
        return Response(304, b"", TYPES.get(name.rpartition(".")[2], "application/octet-stream"), headers, cache=cache)
    return Response(200, content, TYPES.get(name.rpartition(".")[2], "application/octet-stream"), headers, cache=cache)


@routes.get("/", ANYBODY, "The console.")
def index(managed: Managed, request: Request) -> Response:
    if managed.static.read(INDEX) is None:
        return Response(200, NOT_BUILT.encode(), TYPES["html"])
    return file_response(managed, request, INDEX, "no-cache")


@routes.get("/assets/{name}", ANYBODY, "A file of the console, named by its content.")
def asset(managed: Managed, request: Request) -> Response:
    return file_response(
        managed, request, f"assets/{request.parameters['name']}", "public, max-age=31536000, immutable"
    )


@routes.get("/favicon.svg", ANYBODY, "The console's sign.")
def sign(managed: Managed, request: Request) -> Response:
    return file_response(managed, request, "favicon.svg", "max-age=86400")
