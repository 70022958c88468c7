"""What members of groups were told, who owns what, and what was committed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from twinlog.sim.stage.history import Broken, Place

NOTHING: Final = -1


class Claim:
    """What a member believes to own."""

    def __init__(self, member: str) -> None:
        self.member = member
        self.places: dict[Place, None] = {}
        self.heard_us = 0  # when it sent the last heartbeat that was answered well
        self.lease_ms = 0  # nobody else may get these places before it was silent for so long

    def ends_us(self) -> int:
        return self.heard_us + self.lease_ms * 1000


class Life:
    """A classic group from its first member until it was empty and forgotten: the next life counts from the beginning,
    so a generation names one set of owners in one life only."""

    def __init__(self) -> None:
        self.told = 0  # the greatest generation that somebody joined
        self.synced = 0  # the greatest one that somebody got a share of: stored, and never forgotten in this life
        self.owners: dict[tuple[int, Place], str] = {}


class Standing(NamedTuple):
    """How far a group was when somebody asked to join."""

    life: Life
    told: int
    synced: int


class EpochStanding(NamedTuple):
    """The same of a group of the consumer protocol."""

    life: int
    told: int


class GroupHistory:
    """``now_us`` is the world's time. Groups are named; generations and epochs are the coordinator's own numbers."""

    def __init__(self, now_us: Callable[[], int]) -> None:
        self._now_us = now_us
        self.claims: dict[str, dict[str, Claim]] = {}  # group -> member -> claim
        self.committed: dict[tuple[str, Place], int] = {}
        self.asked: dict[tuple[str, Place], dict[int, bool]] = {}  # commit -> whether its fate is unknown
        self.commits = 0
        self.rebalances = 0
        self._epoch_told: dict[str, int] = {}
        self._epoch_lives: dict[str, int] = {}  # how often a group of the consumer protocol began anew
        self._alive: dict[str, dict[str, int]] = {}  # group -> member -> until when its session lasts
        self._lives: dict[str, Life] = {}  # group -> the newest
        self._life_of: dict[str, Life] = {}  # member -> the one that it joined; an id is given once
        self._assigned: dict[tuple[str, int, str], dict[bytes, None]] = {}  # what leaders sent for a member

    # The classic protocol: who owns what in a generation.

    def leader_assigns(self, group: str, generation: int, key: str, assignment: bytes) -> None:
        """``key``: the member's id, or its static name: by that its next life gets the same."""
        self._assigned.setdefault((group, generation, key), {})[assignment] = None

    def standing(self, group: str) -> Standing:
        """To be taken before the request to join is sent."""
        life = self._lives.setdefault(group, Life())
        return Standing(life, life.told, life.synced)

    def note_joined(self, group: str, generation: int, member: str, before: Standing) -> None:
        """A member was told its generation."""
        if member not in self._life_of:
            self._life_of[member] = self._life_for(group, generation, before)
        life = self._life_of[member]
        if life is before.life and generation < before.synced:
            raise Broken("generation back", f"{group}: generation {generation} after {before.synced}")
        life.told = max(life.told, generation)

    def _life_for(self, group: str, generation: int, before: Standing) -> Life:
        """A group that goes on counts on, even when it was empty. One that does not was deleted, and may have been if
        nobody was in it. Whoever asked before somebody else was seen in the new life belongs to that one as well."""
        is_newest = self._lives[group] is before.life
        if generation <= before.told and is_newest and not self._has_members(group):
            self._lives[group] = Life()
        return self._lives[group]

    def note_synced(
        self, group: str, generation: int, member: str, assignment: bytes, places: list[Place], key: str = ""
    ) -> None:
        """``key`` as above, where it is not the id."""
        key = key or member
        life = self._life_of[member]
        life.synced = max(life.synced, generation)
        self.rebalances += 1
        if assignment and assignment not in self._assigned.get((group, generation, key), {}):
            raise Broken("foreign assignment", f"{member} got {assignment!r} in generation {generation} of {group}")
        for place in places:
            owner = life.owners.setdefault((generation, place), key)
            if owner != key:
                raise Broken("two owners", f"{place} belongs to {owner} and {key} in generation {generation}")

    # Whose session lasts. A group without members may be forgotten, and then counts from the beginning.

    def note_alive(self, group: str, member: str, sent_us: int, session_ms: int) -> None:
        self._alive.setdefault(group, {})[member] = sent_us + session_ms * 1000

    def note_gone(self, group: str, member: str) -> None:
        self._alive.get(group, {}).pop(member, None)

    def _has_members(self, group: str) -> bool:
        return any(until_us > self._now_us() for until_us in self._alive.get(group, {}).values())

    # Who believes to own what now, in either protocol.

    def claim(self, group: str, claim: Claim) -> None:
        """An answer that was under way for longer than the lease gives nothing any more."""
        now_us = self._now_us()
        for place in claim.places if now_us < claim.ends_us() else ():
            for other in self.claims.get(group, {}).values():
                if other is not claim and place in other.places and now_us < other.ends_us():
                    raise Broken(
                        "two owners",
                        f"{place} of {group} goes to {claim.member}, and {other.member} that was heard "
                        f"{(now_us - other.heard_us) // 1000} ms ago still holds it",
                    )
        self.claims.setdefault(group, {})[claim.member] = claim

    def give_up(self, group: str, member: str) -> None:
        self.note_gone(group, member)
        self.claims.get(group, {}).pop(member, None)

    def epoch_standing(self, group: str) -> EpochStanding:
        """To be taken before the request to join is sent."""
        return EpochStanding(self._epoch_lives.get(group, 0), self._epoch_told.get(group, 0))

    def check_epoch(self, group: str, epoch: int, before: EpochStanding) -> None:
        """The epoch of somebody who joins. A group that was empty may have been forgotten, and begins anew; who asked
        before somebody else was seen in its next life belongs to that one as well."""
        if epoch < before.told and before.life == self._epoch_lives.get(group, 0):
            if self._has_members(group):
                raise Broken("epoch back", f"{group}: a new member is at epoch {epoch}, {before.told} was told before")
            self._epoch_lives[group] = before.life + 1
            del self._epoch_told[group]
        self.note_epoch(group, epoch)

    def note_epoch(self, group: str, epoch: int) -> None:
        self._epoch_told[group] = max(self._epoch_told.get(group, 0), epoch)

    # Offsets.

    def next_commit(self, group: str, place: Place) -> int:
        asked = self.asked.setdefault((group, place), {})
        offset = len(asked) + 1
        asked[offset] = True
        return offset

    def commit_refused(self, group: str, place: Place, offset: int) -> None:
        self.asked[group, place][offset] = False

    def commit_confirmed(self, group: str, place: Place, offset: int) -> None:
        self.commits += 1
        self.asked[group, place][offset] = False
        self.committed[group, place] = max(self.committed.get((group, place), NOTHING), offset)

    def check_committed(self, who: str, group: str, place: Place, offset: int, confirmed_before: int) -> None:
        """``offset`` was read; ``confirmed_before`` was the greatest confirmed one when the question was asked."""
        asked = self.asked.get((group, place), {})
        if offset != NOTHING and offset not in asked:
            raise Broken("garbage", f"{who}: {group} is said to be at {offset} of {place}, which nobody committed")
        if offset < confirmed_before and not asked.get(offset, False):
            # A commit whose answer was lost may still be taken, after later ones even; nothing else may show.
            kind = "lost commit" if offset == NOTHING else "commit back"
            raise Broken(kind, f"{who}: {group} is at {offset} of {place}, {confirmed_before} was confirmed")
