"""Changing quotas."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from twinlog.base import Refused
from twinlog.cluster.errors import Reason
from twinlog.cluster.image import Image
from twinlog.cluster.kinds.quotas import QUOTAS, QuotaDeleted, QuotaPut
from twinlog.cluster.record import Record
from twinlog.cluster.types import Decision, Outcome, QuotaWanted


def alter_quotas(image: Image, wanted: Sequence[QuotaWanted]) -> Decision[None]:
    """Each entity changes whole or not at all."""
    records: list[Record] = []
    outcomes: list[Outcome[None]] = []
    named = Counter(each.entity for each in wanted)
    quotas = image.part(QUOTAS)
    for each in wanted:
        if named[each.entity] > 1:
            outcomes.append(Refused(Reason.INVALID_REQUEST, "an entity is named more than once"))
            continue
        before = quotas[each.entity].values if each.entity in quotas else {}
        after = {name: value for name, value in {**before, **each.set}.items() if name not in each.removed}
        if after and after != before:
            records.append(QuotaPut(each.entity, after))
        elif before and not after:
            records.append(QuotaDeleted(each.entity))
        outcomes.append(None)
    return Decision(records, outcomes)
