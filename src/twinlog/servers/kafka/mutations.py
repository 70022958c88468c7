"""How many partitions a client may make and delete: the quota ``controller_mutation_rate``.

Requests that know the error are refused, topic by topic, while the client is above its rate; older ones are carried
out. Both are told how long to be quiet, and not read for so long.
"""

from __future__ import annotations

from typing import Final

from twinlog.base import Refused
from twinlog.servers.kafka.admin_ports import AdminBroker, Context
from twinlog.wire.kafka.errors import ErrorCode


class Mutations:
    """The partitions of one request; ``permit`` is asked for each topic. ``strict_from``: the first version of the
    request whose clients know the error."""

    def __init__(self, broker: AdminBroker, context: Context, strict_from: int) -> None:
        self._quotas: Final = broker.quotas
        self._context: Final = context
        self._strict: Final = context.version >= strict_from

    def permit(self, partition_count: int) -> None:
        context = self._context
        wait_ms = self._quotas.charge_mutations(
            context.principal, context.client_id, partition_count, context.now_ms, self._strict
        )
        if wait_ms:
            context.throttle(wait_ms)
        if wait_ms and self._strict:
            raise Refused(
                ErrorCode.THROTTLING_QUOTA_EXCEEDED,
                f"too many partitions were made or deleted of late: come again in {wait_ms} ms",
            )
