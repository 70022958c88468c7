"""What the Java client's tests ask of `rabbitmqctl` and of `make`, done over the broker's HTTP API.

``TWINLOG_SUITE_HTTP`` is its address. A restart is asked of the test run by a file: ``TWINLOG_SUITE_RESTART`` appears
here, and is gone when the broker is up again.
"""

from __future__ import annotations

import json
import os
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any
from urllib.parse import quote

RESTART_TIMEOUT_S = 60


def ask(method: str, path: str, body: Any = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"http://{os.environ['TWINLOG_SUITE_HTTP']}/api/{path}", data, method=method)
    request.add_header("Authorization", "Basic Z3Vlc3Q6Z3Vlc3Q=")
    request.add_header("Content-Type", "application/json")
    with urllib.request.urlopen(request) as answer:
        content = answer.read()
    return json.loads(content) if content else None


def option(words: list[str], name: str, default: str) -> str:
    if name not in words:
        return default
    at = words.index(name)
    value = words[at + 1]
    del words[at : at + 2]
    return value


def control(words: list[str]) -> None:
    option(words, "-n", "")
    vhost = quote(option(words, "-p", "/"), safe="")
    command, *words = words or ["help"]
    if command == "list_connections":
        for each in ask("GET", "connections"):
            print(f"{each['name']}\t{each['peer_port']}")
    elif command == "close_connection":
        ask("DELETE", f"connections/{quote(words[0], safe='')}")
    elif command == "set_policy":
        priority = int(option(words, "--priority", "0"))
        name, pattern, definition = words
        body = {"pattern": pattern, "definition": json.loads(definition), "priority": priority, "apply-to": "all"}
        ask("PUT", f"policies/{vhost}/{quote(name, safe='')}", body)
    elif command == "clear_policy":
        ask("DELETE", f"policies/{vhost}/{quote(words[0], safe='')}")
    elif command == "set_user_tags":
        body = {"password": "guest", "tags": ",".join(words[1:])}
        ask("PUT", f"users/{words[0]}", body)
    elif command == "add_user":
        ask("PUT", f"users/{words[0]}", {"password": words[1], "tags": ""})
    elif command == "delete_user":
        ask("DELETE", f"users/{words[0]}")
    elif command == "add_vhost":
        ask("PUT", f"vhosts/{quote(words[0], safe='')}")
    elif command == "delete_vhost":
        ask("DELETE", f"vhosts/{quote(words[0], safe='')}")
    elif command == "set_permissions":
        user, configure, write, read = words
        ask("PUT", f"permissions/{vhost}/{user}", {"configure": configure, "write": write, "read": read})
    elif command == "clear_permissions":
        ask("DELETE", f"permissions/{vhost}/{words[0]}")
    else:
        sys.exit(f"no such command here: {command}")


def make(words: list[str]) -> None:
    if not any(word.startswith("start-") for word in words):
        sys.exit(f"no such target here: {words}")
    wanted = Path(os.environ["TWINLOG_SUITE_RESTART"])
    wanted.touch()
    deadline = time.monotonic() + RESTART_TIMEOUT_S
    while wanted.exists():
        if time.monotonic() > deadline:
            sys.exit("the broker was not restarted")
        time.sleep(0.02)


if __name__ == "__main__":
    (make if sys.argv[1] == "make" else control)(sys.argv[2:])
