"""``twinlog connection``: clients make them, so there is nothing to create here, and to delete one is to close it."""

from __future__ import annotations

from twinlog.cli.nouns.shared import add_plain_delete, add_plain_describe, add_plain_list, app_of

connection = app_of("connections")

add_plain_list(
    connection,
    "connections",
    "Show who is connected, by either protocol.",
    (
        ("CONNECTION", "name"),
        ("PROTOCOL", "protocol"),
        ("USER", "user"),
        ("STATE", "state"),
        ("CHANNELS", "channels"),
    ),
    "Nobody is connected.",
)
add_plain_describe(
    connection,
    "connections",
    "Show one connection.",
    (
        "name",
        "protocol",
        "user",
        "vhost",
        "state",
        "channels",
        "recv_oct",
        "send_oct",
        "timeout",
        "frame_max",
        "client_properties",
    ),
)
add_plain_delete(
    connection,
    "connections",
    "Close a connection; most clients come back by themselves.",
    "Close the connection {}?",
    "close",
)
