"""The nouns of RabbitMQ's side, each with ``list``, ``describe``, ``create``, ``delete`` and what else makes sense for
it. All go through the HTTP API. What the nouns have in common is in ``shared``."""

from __future__ import annotations

from typing import Final

import typer

from twinlog.cli.nouns.bindings import binding
from twinlog.cli.nouns.connections import connection
from twinlog.cli.nouns.definitions import definitions
from twinlog.cli.nouns.exchanges import exchange
from twinlog.cli.nouns.people import permission, user, vhost
from twinlog.cli.nouns.policies import policy
from twinlog.cli.nouns.queues import queue

APPS: Final[dict[str, typer.Typer]] = {
    "queue": queue,
    "exchange": exchange,
    "binding": binding,
    "vhost": vhost,
    "user": user,
    "permission": permission,
    "policy": policy,
    "connection": connection,
    "definitions": definitions,
}
