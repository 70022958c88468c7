"""A partition log against a list, through rolls, deletions, cuts, full disks, kills and power cuts."""

from __future__ import annotations

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tests.kit.storage import INFLATED_MAX, SMALL, TOPIC, Machine, append, everything, made, records
from twinlog import _kernel
from twinlog.base import DiskFull, Refused
from twinlog.storage import LogSettings, TimestampFound

SIZES = st.integers(1, 400)
SHARES = st.floats(0, 1)


class LogMachine(RuleBasedStateMachine):
    """``values[n]`` is what lies at offset n; those below ``start`` were deleted."""

    @initialize(seed=st.integers(0, 1 << 32), segment_bytes=st.sampled_from([600, 1024, 4096]))
    def begin(self, seed: int, segment_bytes: int) -> None:
        self.machine = Machine(seed)
        self.log_settings = LogSettings(segment_bytes=segment_bytes, index_interval_bytes=200, file_delete_delay_ms=500)
        self.values: list[tuple[bytes, int]] = []  # value, timestamp
        self.ends: list[int] = [0]  # where batches end
        self.start = 0
        self.start_promised = 0
        self.epoch = 0
        self.epochs: list[tuple[int, int]] = []
        self.serial = 0
        self.open()

    def open(self) -> None:
        self.store = self.machine.store(log_settings=self.log_settings)
        self.log = self.store.log(TOPIC, 0)

    @rule(count=st.integers(1, 5), size=SIZES, timestamp=st.integers(0, 50), soon=st.booleans())
    def append(self, count: int, size: int, timestamp: int, soon: bool) -> None:
        values = [b"%d:" % (self.serial + number) + b"x" * size for number in range(count)]
        self.serial += count
        base = append(self.log, values, leader_epoch=self.epoch, timestamp=timestamp, soon=soon)
        assert base == len(self.values)
        self.values += [(value, timestamp + number) for number, value in enumerate(values)]
        self.ends.append(len(self.values))
        self.led(base)

    def led(self, offset: int) -> None:
        """Something was to be written in this epoch. An epoch that wrote nothing gives way to the next one."""
        if not self.epochs or self.epochs[-1][0] != self.epoch:
            self.epochs = [(epoch, start) for epoch, start in self.epochs if start < offset]
            self.epochs.append((self.epoch, offset))

    def forget_epochs(self) -> None:
        """Epochs that wrote nothing are not remembered."""
        self.epochs = [(epoch, start) for epoch, start in self.epochs if start < len(self.values)]

    @rule(size=SIZES)
    def append_to_full_disk(self, size: int) -> None:
        self.machine.platter.faults.fail("write", full=True, path_part=".log")
        try:
            append(self.log, [b"y" * size], leader_epoch=self.epoch)
        except DiskFull:
            pass
        else:
            raise AssertionError("a full disk took a batch")
        self.machine.platter.faults.clear()
        assert self.log.offline is None
        self.led(len(self.values))

    @rule(span_ms=st.sampled_from([1, 5, 150, 1000]))
    def settle(self, span_ms: int) -> None:
        self.machine.settle(span_ms)

    @rule()
    def next_epoch(self) -> None:
        self.epoch += 1

    @rule()
    def roll(self) -> None:
        self.log.roll(5000)

    @rule()
    def close_idle_files(self) -> None:
        self.store._pool.close_idle()
        self.store._pool.close_idle()

    @precondition(lambda self: self.values)
    @rule(share=SHARES)
    def delete_to(self, share: float) -> None:
        offset = self.start + int((len(self.values) - self.start) * share)

        def promised() -> None:
            self.start_promised = max(self.start_promised, offset)

        self.log.delete_to(offset, promised)
        self.start = max(self.start, offset)

    @precondition(lambda self: self.values)
    @rule(share=SHARES)
    def truncate_to(self, share: float) -> None:
        offset = self.start + int((len(self.values) - self.start) * share)
        end = self.log.truncate_to(offset)
        assert end == max(place for place in self.ends if place <= offset)
        self.cut_to(end)

    def cut_to(self, end: int) -> None:
        self.start = min(self.start, end)
        self.start_promised = min(self.start_promised, end)
        del self.values[end:]
        self.ends = [place for place in self.ends if place <= end]
        self.forget_epochs()

    @rule()
    def kill(self) -> None:
        """Everything written is in the page cache still."""
        self.machine.kill()
        self.open()
        assert self.log.offline is None, self.log.offline
        assert self.log.offset_end == len(self.values)
        self.after_crash()

    @rule()
    def cut_power(self) -> None:
        synced = self.log.offset_synced
        self.machine.cut_power()
        self.open()
        assert self.log.offline is None, self.log.offline
        assert self.log.offset_end >= synced
        assert self.log.offset_end in self.ends
        self.cut_to(self.log.offset_end)
        self.after_crash()

    def after_crash(self) -> None:
        assert self.start_promised <= self.log.offset_start <= self.start
        self.start = self.log.offset_start
        self.forget_epochs()

    @rule()
    def stop_clean(self) -> None:
        self.machine.close(self.store)
        self.machine.kill()
        self.open()
        assert self.log.offset_end == self.log.offset_synced == len(self.values)
        assert self.log.offset_start == self.start
        assert self.store.clean_incarnation is not None
        self.forget_epochs()

    @rule(share=SHARES, share_below=SHARES, bytes_max=st.integers(1, 3000), whole_first=st.booleans())
    def read(self, share: float, share_below: float, bytes_max: int, whole_first: bool) -> None:
        offset = self.start + int((len(self.values) - self.start) * share)
        below = int(len(self.values) * share_below)
        read = self.log.read(offset, bytes_max, below, whole_first=whole_first)
        data = b"".join(part.file.read_at(part.position, part.size) for part in read.parts)
        assert len(data) == read.size
        found = records(data)
        assert [value for _, value in found] == [value for value, _ in self.values[read.offset_first :][: len(found)]]
        assert all(number < below for number, _ in found)
        if found:
            assert read.offset_first == found[0][0] <= offset
            assert read.offset_next == found[-1][0] + 1
            first_bytes = _kernel.scan_batches(data, 0, len(data))[0][0][1]
            assert read.size <= bytes_max or (whole_first and read.size == first_bytes)
        elif whole_first and offset < below:
            batch_end = min(place for place in self.ends if place > offset)
            assert batch_end > below, "a batch could have been read"

    @rule()
    def read_outside(self) -> None:
        for offset in (self.start - 1, len(self.values) + 1):
            try:
                self.log.read(offset, 100)
            except Refused as refused:
                assert refused.code == 1
            else:
                raise AssertionError("read outside the log")

    @rule(timestamp=st.integers(0, 60))
    def time(self, timestamp: int) -> None:
        kept = [(offset, time) for offset, (_, time) in enumerate(self.values) if offset >= self.start]
        expected = next((found for found in kept if found[1] >= timestamp), None)
        found = self.log.offset_for_time(timestamp)
        assert (found and found[:2]) == expected
        if found is not None:
            assert found.leader_epoch == max(epoch for epoch, start in self.epochs if start <= found.offset)

    @rule()
    def greatest_time(self) -> None:
        kept = [(-time, offset) for offset, (_, time) in enumerate(self.values) if offset >= self.start]
        found = self.log.max_timestamp()
        assert found == (TimestampFound(min(kept)[1], -min(kept)[0], found.leader_epoch) if found and kept else None)
        assert bool(found) == bool(kept)

    @rule(epoch=st.integers(-1, 30))
    def end_of_epoch(self, epoch: int) -> None:
        kept: list[tuple[int, int]] = []
        for number, start in self.epochs:
            if kept and start <= self.start:
                kept.clear()
            kept.append((number, max(start, self.start)))
        known = [number for number, _ in kept]
        if not known or epoch < 0 or epoch > known[-1]:
            expected = (-1, -1)
        elif epoch < known[0]:
            expected = (epoch, kept[0][1])
        else:
            floor = max(number for number in known if number <= epoch)
            later = [start for number, start in kept if number > floor]
            expected = (floor, later[0] if later else len(self.values))
        assert self.log.epoch_end(epoch) == expected

    @invariant()
    def ends_agree(self) -> None:
        if hasattr(self, "log"):
            assert self.log.offset_end == len(self.values)
            assert self.log.offset_synced <= self.log.offset_end
            facts = self.log.segment_facts()
            assert self.log.size_bytes == sum(segment.size_bytes for segment in facts)

    def teardown(self) -> None:
        if hasattr(self, "log"):
            assert [value for _, value in everything(self.log)] == [value for value, _ in self.values[self.start :]]


TestLog = LogMachine.TestCase
TestLog.settings = settings(
    max_examples=60, stateful_step_count=40, deadline=None, suppress_health_check=list(HealthCheck)
)


def test_model_test_can_fail() -> None:
    """The reader that the model trusts sees a flipped bit."""
    machine = Machine()
    log = machine.store(log_settings=SMALL).log(TOPIC, 0)
    append(log, [b"value"])
    path = next(path for path in machine.copy_tree("data") if path.endswith(".log"))
    machine.platter.flip_bit(path, 70)
    try:
        everything(log)
    except AssertionError:
        return
    raise AssertionError("broken bytes were taken for records")


def test_batches_are_checked_like_those_of_clients() -> None:
    buffer, batch = made([b"a", b"b"])
    assert _kernel.check_batch(buffer, 0, len(buffer), INFLATED_MAX)[2] == batch
