"""The command line's way to a node's HTTP API, and how its refusals end a command."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from typing import Annotated, Any, Final, NoReturn
from urllib.parse import quote

import typer

from twinlog.base.address import Address, parse_address
from twinlog.cli.ending import fail

HTTP_DEFAULT: Final = "127.0.0.1:15672"
USER_DEFAULT: Final = "guest:guest"
TIMEOUT_S: Final = 60

Where = Annotated[
    str, typer.Option("--http", metavar="HOST:PORT", envvar="TWINLOG_HTTP", help="Where a broker's HTTP side listens.")
]
As = Annotated[
    str,
    typer.Option("--user", "-u", metavar="NAME:PASSWORD", envvar="TWINLOG_USER", help="Who asks.", show_default=False),
]
Vhost = Annotated[str, typer.Option("--vhost", "-v", help="The vhost.")]

NEXT_STEPS: Final = {
    401: "Name a user by --user NAME:PASSWORD; `twinlog user list` shows who has which tags.",
    404: "The matching `list` command shows what there is.",
    429: "Wait a little, and check the password.",
    503: "The broker's log says more.",
}


@dataclass(frozen=True)
class Refusal(Exception):
    status: int
    reason: str


class Api:
    """Requests to one node."""

    def __init__(self, where: str, user: str) -> None:
        try:
            self._address: Address = parse_address(where)
        except ValueError as wrong:
            fail(f"--http: {wrong}", f"Write it like {HTTP_DEFAULT}.", code=2)
        if ":" not in user:
            fail(f"--user {user}: write it as NAME:PASSWORD", code=2)
        self._authorization = f"Basic {base64.b64encode(user.encode()).decode()}"

    def call(self, method: str, path: str, body: Any = None) -> Any:
        connection = HTTPConnection(*self._address, timeout=TIMEOUT_S)
        headers = {"Authorization": self._authorization}
        data = None
        if body is not None:
            headers["Content-Type"] = "application/json"
            data = json.dumps(body).encode()
        try:
            connection.request(method, path, data, headers)
            answer = connection.getresponse()
            content = answer.read()
        except (OSError, HTTPException) as fault:
            fail(
                f"no answer from {self._address}: {fault}",
                "Start a broker with `twinlog serve`, or name another by --http HOST:PORT.",
            )
        finally:
            connection.close()
        if answer.status >= 400:
            raise Refusal(answer.status, reason_in(content))
        return json.loads(content) if content else None

    def get(self, path: str) -> Any:
        return self.call("GET", path)

    def put(self, path: str, body: Any) -> None:
        self.call("PUT", path, body)

    def post(self, path: str, body: Any) -> Any:
        return self.call("POST", path, body)

    def delete(self, path: str) -> None:
        self.call("DELETE", path)


def reason_in(content: bytes) -> str:
    try:
        return str(json.loads(content)["reason"])
    except (ValueError, KeyError, TypeError):
        return "the answer is not one of Twinlog"


def path(*parts: str) -> str:
    return "/api/" + "/".join(quote(part, safe="") for part in parts)


@contextmanager
def asking(where: str, user: str) -> Iterator[Api]:
    """An API for the length of a command; a refusal ends it with what to do next."""
    try:
        yield Api(where, user)
    except Refusal as refusal:
        end_with(refusal)
    except KeyboardInterrupt:
        raise typer.Exit(130) from None


def end_with(refusal: Refusal) -> NoReturn:
    fail(f"refused: {refusal.reason}", NEXT_STEPS.get(refusal.status, ""))
