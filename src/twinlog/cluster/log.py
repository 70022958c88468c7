"""The metadata log: what was proposed is written, made durable with its neighbours, and only then counts.

Two images exist. ``image`` is durable and is what everybody works with. ``image_decided`` also holds
what is written but not yet durable: the controller decides on it, so that two requests which arrive
together cannot both create the same topic, and need not wait for one another.

A proposal ends in this order: the entry is durable, ``image`` changes, listeners hear of it, ``done`` is
called. When the journal fails, nothing that waits will ever count: each ``done`` gets the fault, later
proposals are refused, and ``on_offline`` tells the node, which must stop.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

from twinlog.base import DiskFull, HostFault
from twinlog.cluster.image import EMPTY, Delta, Image, apply, whole
from twinlog.cluster.kinds import CODEC
from twinlog.cluster.ports import Journal
from twinlog.cluster.record import ENTRY_FORMAT, Entry, Record, UnknownRecord
from twinlog.cluster.settings import MetadataLogSettings
from twinlog.host import Clock

ProposalDone: TypeAlias = Callable[[Exception | None], None]
Listener: TypeAlias = Callable[[Image, Delta], None]


class _Proposal(NamedTuple):
    image: Image
    delta: Delta
    done: ProposalDone


class MetadataLog:
    """One writer (the controller), any number of readers of ``image``. All calls are made on the loop."""

    def __init__(self, journal: Journal, clock: Clock, settings: MetadataLogSettings | None = None) -> None:
        self._journal = journal
        self._clock = clock
        self._settings = settings or MetadataLogSettings()
        self._waiting: deque[_Proposal] = deque()
        self._listeners: list[Listener] = []
        self.image: Image = EMPTY
        self.image_decided: Image = EMPTY
        self.offline: HostFault | None = None
        self.on_offline: Callable[[HostFault], None] = lambda fault: None

    def open(self) -> None:
        """Reads snapshot and entries. ``HostFault`` when something in them is damaged or not ours to read."""
        snapshot, payloads = self._journal.open()
        image = EMPTY
        if snapshot is not None:
            entry = CODEC.decode(snapshot)
            image, _ = apply(EMPTY, entry.records, offset=entry.offset)
        offset = image.offset
        records: list[Record] = []
        for payload in payloads:
            entry = CODEC.decode(payload)
            if entry.offset <= image.offset:
                continue  # the snapshot has it: a crash came between writing the snapshot and dropping entries
            if entry.offset != offset + 1:
                raise UnknownRecord("metadata log", f"entry {entry.offset} follows entry {offset}: entries are missing")
            records += entry.records
            offset = entry.offset
        if offset != image.offset:
            image, _ = apply(image, records, offset=offset)
        self.image = self.image_decided = image

    def subscribe(self, listener: Listener) -> None:
        """Hears of everything that exists at once, and of each later change after it became durable."""
        self._listeners.append(listener)
        listener(self.image, whole(self.image))

    def propose(self, records: Sequence[Record], done: ProposalDone) -> None:
        """Writes ``records`` as one entry. They must have been decided on ``image_decided``, in this same call."""
        if self.offline is not None:
            done(self.offline)
            return
        if not records:
            self._propose_nothing(done)
            return
        before = self.image_decided
        image, delta = apply(before, records)
        entry = Entry(ENTRY_FORMAT, image.offset, 0, self._clock.now_ms(), tuple(records))
        try:
            self._journal.append(CODEC.encode(entry), self._on_durable)
        except DiskFull as fault:
            done(fault)  # nothing was written, nothing changed: reading goes on
            return
        except HostFault as fault:
            self._fail(fault)
            done(fault)
            return
        self.image_decided = image
        self._waiting.append(_Proposal(image, delta, done))

    def close(self) -> None:
        """Nothing is written any more: a log that fails while the node stops has nobody to be reported to."""
        self.offline = self.offline or HostFault("metadata log", "closed")
        self._journal.close()

    def _propose_nothing(self, done: ProposalDone) -> None:
        """What was found already decided is true once that is durable."""
        if self._waiting:
            last = self._waiting[-1]
            self._waiting[-1] = last._replace(done=_both(last.done, done))
        else:
            done(None)

    def _on_durable(self, fault: Exception | None) -> None:
        """The journal calls this once for each entry, in order."""
        if self.offline is not None:
            return
        if fault is not None:
            self._fail(fault if isinstance(fault, HostFault) else HostFault("metadata log", str(fault)))
            return
        proposal = self._waiting.popleft()
        self.image = proposal.image
        for listener in self._listeners:
            listener(proposal.image, proposal.delta)
        proposal.done(None)
        if not self._waiting and self._journal.size_bytes > self._settings.snapshot_after_bytes:
            self._snapshot()

    def _snapshot(self) -> None:
        image = self.image
        entry = Entry(ENTRY_FORMAT, image.offset, 0, self._clock.now_ms(), tuple(image.records()))
        try:
            self._journal.snapshot(CODEC.encode(entry))
        except DiskFull:
            return  # the log goes on without it, and the next entry tries again
        except HostFault as fault:
            self._fail(fault)

    def _fail(self, fault: HostFault) -> None:
        if self.offline is not None:
            return
        self.offline = fault
        waiting, self._waiting = self._waiting, deque()
        self.image_decided = self.image
        for proposal in waiting:
            proposal.done(fault)
        self.on_offline(fault)


def _both(first: ProposalDone, second: ProposalDone) -> ProposalDone:
    def done(fault: Exception | None) -> None:
        first(fault)
        second(fault)

    return done
