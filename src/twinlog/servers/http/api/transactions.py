"""Transactions of Kafka's producers: which are open, for how long, and on which partitions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from twinlog.kafka.rights import Operation, Resource
from twinlog.kafka.transactions import Transaction, TransactionState
from twinlog.servers.http.listing import QUERY, listed
from twinlog.servers.http.message import Request, Response, not_found, ok
from twinlog.servers.http.ports import Managed
from twinlog.servers.http.router import USER, Routes

routes = Routes("transactions")


def seen(managed: Managed, request: Request) -> Iterator[Transaction]:
    assert request.asker is not None
    for shard in managed.broker.transactions.topic.runtime.active_shards():
        for transaction in shard.machine.transactions.values():
            if managed.broker.rights.allows(
                request.asker, Operation.DESCRIBE, Resource.TRANSACTIONAL_ID, transaction.id
            ):
                yield transaction


def view(managed: Managed, transaction: Transaction) -> dict[str, Any]:
    is_open = transaction.state is TransactionState.ONGOING or transaction.state.is_decided
    return {
        "name": transaction.id,
        "state": transaction.state.label,
        "producer_id": transaction.producer_id,
        "producer_epoch": transaction.epoch,
        "timeout_ms": transaction.timeout_ms,
        "open_ms": max(0, managed.now_ms() - transaction.started_ms) if is_open else None,
        "partitions": [{"topic": topic, "partition": index} for topic, index in sorted(transaction.partitions)],
    }


@routes.get(
    "/api/transactions", USER, "Transactional ids, with what is open.", query=(*QUERY, ("state", "like Ongoing"))
)
async def transactions(managed: Managed, request: Request) -> Response:
    state = request.query.get("state", "")
    found = [each for each in seen(managed, request) if state in ("", each.state.label)]
    return await listed(managed.tasks, request, found, lambda each: each.id, lambda each: view(managed, each))


@routes.get("/api/transactions/{id}", USER, "One transactional id.")
def transaction(managed: Managed, request: Request) -> Response:
    for each in seen(managed, request):
        if each.id == request.parameters["id"]:
            return ok(view(managed, each))
    raise not_found("there is no such transactional id")
