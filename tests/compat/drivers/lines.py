"""The loop that all Python drivers share, and the words of the conversation.

A command is ``{"op": name, ...}``. The answer is ``{"ok": result}``, ``{"error": kafka_code, "message": text}`` or
``{"unsupported": reason}`` when the library has no such call. Bytes travel as base64. A record is
``{"key", "value", "headers": [[name, value]], "timestamp"}``; when read it also has ``offset`` and ``timestamp_type``
(0: the producer's time, 1: the log's).

Commands: ``produce`` ``consume`` ``offset_at`` ``partitions`` ``create_topic`` ``delete_topic`` ``create_partitions``
``describe_configs`` ``alter_configs`` ``delete_records`` ``list_topics`` ``topic_id`` ``describe_cluster``.
``produce`` answers [partition, offset, timestamp] a record, or null when acks is 0. A producer lives on under its
settings and ``producer`` name, so that a later command meets the same one.

A driver can be one member of one group: ``subscribe`` (group, topic, protocol classic or consumer, assignor range or
cooperative, instance), ``poll_group`` (for ms; which partitions it owns then, and [partition, offset, value] of what
it read), ``commit_group`` (what it read), ``leave_group``.

``copy`` (source, target, group, transactional_id, count, batch, abort_every): until it has copied ``count`` records, at
most ``batch`` a transaction, with the group's offsets in it; each ``abort_every``-th transaction is aborted first and
then done again. It answers how many it copied.
"""

from __future__ import annotations

import base64
import json
import os
import sys
import time
import traceback
from typing import Any

LARGEST_REQUEST_BYTES = 64 * 1024 * 1024  # drivers never refuse by size themselves: the broker's answer is what counts
CALL_TIMEOUT_S = 20.0
COPY_TIMEOUT_S = 40.0
SESSION_MS = 2000
HEARTBEAT_MS = 200
# What a call that only asks may meet just after a restart, from libraries that leave trying again to the program:
# unavailable leader, old or unknown leader epoch, and a library's own "no connection yet".
PASSING_CODES = (5, 6, 74, 75)
ASKING = ("offset_at", "partitions", "describe_configs", "list_topics", "topic_id", "describe_cluster")
ASKING_AGAIN_S = 20.0


class ClientError(Exception):
    """The library reported this Kafka error code."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message


class Unsupported(Exception):
    """The library has no such call."""


def to_text(data: bytes | None) -> str | None:
    return None if data is None else base64.b64encode(data).decode()


def to_bytes(text: str | None) -> bytes | None:
    return None if text is None else base64.b64decode(text)


def record_in(record: dict[str, Any]) -> tuple[bytes | None, bytes | None, list[tuple[str, bytes | None]], int | None]:
    """A record of a command as (key, value, headers, timestamp)."""
    headers = [(name, to_bytes(value)) for name, value in record.get("headers", [])]
    return to_bytes(record.get("key")), to_bytes(record.get("value")), headers, record.get("timestamp")


def record_out(
    offset: int,
    timestamp: int,
    timestamp_type: int,
    key: bytes | None,
    value: bytes | None,
    headers: list[tuple[str, bytes | None]],
) -> dict[str, Any]:
    return {
        "offset": offset,
        "timestamp": timestamp,
        "timestamp_type": timestamp_type,
        "key": to_text(key),
        "value": to_text(value),
        "headers": [[name, to_text(header)] for name, header in headers],
    }


def answer(driver: Any, line: str) -> dict[str, Any]:
    command = json.loads(line)
    operation = command.pop("op")
    deadline = time.monotonic() + (ASKING_AGAIN_S if operation in ASKING else 0)
    while "error" in (told := answer_once(driver, operation, command)) and time.monotonic() < deadline:
        if told["error"] not in PASSING_CODES and "NodeNotReadyError" not in told["message"]:
            break
        time.sleep(0.1)
    return told


def answer_once(driver: Any, operation: str, command: dict[str, Any]) -> dict[str, Any]:
    try:
        return {"ok": getattr(driver, operation)(**command)}
    except ClientError as error:
        return {"error": error.code, "message": error.message}
    except Unsupported as error:
        return {"unsupported": str(error)}
    except Exception as error:
        return {"error": -1000, "message": f"{type(error).__name__}: {error}\n{traceback.format_exc()}"}


def serve(driver: Any) -> None:
    """Answers commands until the input ends."""
    out = sys.stdout
    sys.stdout = sys.stderr  # a library that prints must not break the conversation
    out.write(json.dumps({"ok": driver.version}) + "\n")
    out.flush()
    for line in sys.stdin:
        out.write(json.dumps(answer(driver, line)) + "\n")
        out.flush()
    os._exit(0)  # open clients have threads and tasks of their own; nobody waits for them
