"""Bugs planted into the life of a log: the model and its cuts have to find each of them, or they prove nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Final

import pytest

from tests.properties import test_life_model as model
from twinlog.sim.disk import SimDisk
from twinlog.sim.planted.patch import Patch
from twinlog.storage import keeper
from twinlog.storage.compaction import Compaction
from twinlog.storage.log import PartitionLog
from twinlog.storage.log_sync import LogSync
from twinlog.storage.marks import Mark
from twinlog.storage.segment import Segment


def written_without_sync(patch: Patch) -> None:
    """A new segment takes its place before its bytes are durable."""

    def end_output(self: Compaction) -> None:
        before_sync = patch.put(SimDisk, "sync_now", lambda self, file: None)
        try:
            before(self)
        finally:
            SimDisk.sync_now = before_sync  # type: ignore[method-assign]

    before = patch.put(Compaction, "_end_output", end_output)


def old_files_go_at_once(patch: Patch) -> None:
    """Before the new name is durable."""

    def replace_segments(self: PartitionLog, old: list[Segment], new: Segment, written_path: str) -> None:
        before(self, old, new, written_path)
        sync = self.sync
        sync._replaced, sync._replaced_unsynced = sync._replaced_unsynced, []
        sync._discard_replaced()

    before = patch.put(PartitionLog, "replace_segments", replace_segments)


def aborted_transactions_count(patch: Patch) -> None:
    """What was aborted hides what was committed before it."""

    def make(self: Compaction, *arguments: Any) -> None:
        before(self, *arguments)
        self._aborted = []

    before = patch.put(Compaction, "__init__", make)


def undecided_is_compacted(patch: Patch) -> None:
    patch.put(PartitionLog, "compactable_to", property(lambda self: self.sync.mark_base))


def what_was_planned_stays_planned(patch: Patch) -> None:
    """A log that lost segments meanwhile gets them back from the pass that was under way."""
    patch.put(PartitionLog, "changes", property(lambda self: 0))


def tombstones_go_at_once(patch: Patch) -> None:
    def prepare(self: Compaction) -> int:
        self._log_settings = replace(self._log_settings, delete_retention_ms=-1_000_000)
        return int(before(self))

    before = patch.put(Compaction, "_prepare", prepare)


def the_lag_is_ignored(patch: Patch) -> None:
    def plan(*arguments: Any) -> Any:
        *first, chosen, now_ms = arguments
        return before(*first, chosen, now_ms + 10_000_000)

    before = patch.put(keeper, "plan_compaction", plan)


def segments_go_before_the_new_start_is_durable(patch: Patch) -> None:
    def delete_to(self: PartitionLog, offset: int, done: Callable[[], None] | None = None) -> None:
        before(self, offset, done)
        self.drop_segments(self.offset_start)

    before = patch.put(PartitionLog, "delete_to", delete_to)


def nothing_ends_where_the_log_was_durable(patch: Patch) -> None:
    """All segments below the start go, also the one that the durable mark names."""

    def marked(self: LogSync, mark: Mark) -> None:
        before(self, mark)
        self._log.drop_segments(mark.offset_start)

    before = patch.put(LogSync, "marked", marked)


def the_first_segment_keeps_its_index(patch: Patch) -> None:
    """The new file is found by the old one's positions."""

    def replace_segments(self: PartitionLog, old: list[Segment], new: Segment, written_path: str) -> None:
        new.offsets, new.positions = old[0].offsets, old[0].positions
        before(self, old, new, written_path)

    before = patch.put(PartitionLog, "replace_segments", replace_segments)


BROKEN_PLANTS: Final = (AttributeError, NameError, TypeError)
BUGS: Final[dict[Callable[[Patch], None], Callable[[], None]]] = {
    written_without_sync: model.test_every_step_of_compaction_may_be_the_last,
    old_files_go_at_once: model.test_every_step_of_compaction_may_be_the_last,
    the_first_segment_keeps_its_index: model.test_every_step_of_compaction_may_be_the_last,
    aborted_transactions_count: model.test_every_step_of_compaction_may_be_the_last,
    undecided_is_compacted: model.test_what_is_undecided_is_not_compacted,
    what_was_planned_stays_planned: partial(model.test_a_log_that_is_cut_in_the_middle_of_compaction_stays_cut, "both"),
    tombstones_go_at_once: model.test_tombstones_stay_for_their_time_and_go_then,
    the_lag_is_ignored: model.test_records_stay_for_the_lag,
    segments_go_before_the_new_start_is_durable: partial(model.test_every_step_of_retention_may_be_the_last, False),
    nothing_ends_where_the_log_was_durable: partial(model.test_every_step_of_retention_may_be_the_last, False),
}


@pytest.mark.parametrize("plant", BUGS, ids=lambda plant: plant.__name__)
def test_a_planted_bug_is_found(plant: Callable[[Patch], None]) -> None:
    patch = Patch()
    try:
        plant(patch)
        with pytest.raises(Exception) as found:
            BUGS[plant]()
        assert not isinstance(found.value, (pytest.fail.Exception, *BROKEN_PLANTS)), "the plant itself is broken"
    finally:
        patch.undo()
