"""Who may own a partition in which generation, and when a group may count from the beginning."""

from __future__ import annotations

import pytest

from twinlog.sim.stage.group_history import Claim, GroupHistory
from twinlog.sim.stage.history import Broken, Place

GROUP = "old"
PLACE: Place = ("one", 0)
SESSION_MS = 600


class Story:
    """A history, and the world's time, which goes on when it is told to."""

    def __init__(self) -> None:
        self.now_us = 0
        self.history = GroupHistory(lambda: self.now_us)

    def wait(self, ms: int) -> None:
        self.now_us += ms * 1000

    def joins(self, member: str, generation: int) -> None:
        self.history.note_joined(GROUP, generation, member, self.history.standing(GROUP))

    def owns(self, member: str, generation: int) -> None:
        self.history.note_alive(GROUP, member, self.now_us, SESSION_MS)
        self.history.note_synced(GROUP, generation, member, b"", [PLACE])

    def breaks(self, kind: str) -> pytest.RaisesExc[Broken]:
        return pytest.raises(Broken, check=lambda broken: broken.kind == kind)


@pytest.fixture
def story() -> Story:
    story = Story()
    story.joins("first", 1)
    story.owns("first", 1)
    return story


def test_a_group_whose_sessions_all_ended_may_begin_anew_at_the_generation_that_was_synced(story: Story) -> None:
    story.wait(SESSION_MS)
    story.joins("second", 1)
    story.owns("second", 1)


def test_nobody_gets_what_a_living_member_owns_in_the_same_generation(story: Story) -> None:
    story.wait(SESSION_MS - 1)
    story.joins("second", 1)
    with story.breaks("two owners"):
        story.owns("second", 1)


def test_nobody_gets_what_somebody_who_left_owned_in_the_same_generation_while_others_are_there(story: Story) -> None:
    story.joins("other", 1)
    story.history.note_alive(GROUP, "other", story.now_us, SESSION_MS)
    story.history.note_gone(GROUP, "first")
    story.joins("second", 1)
    with story.breaks("two owners"):
        story.owns("second", 1)


def test_two_who_begin_a_group_anew_together_are_in_the_same_life(story: Story) -> None:
    story.wait(SESSION_MS)
    before = story.history.standing(GROUP)
    for member in ("second", "third"):
        story.history.note_joined(GROUP, 1, member, before)
    story.owns("second", 1)
    with story.breaks("two owners"):
        story.owns("third", 1)


def test_who_learns_late_that_it_joined_the_first_round_begins_no_new_life() -> None:
    story = Story()
    before = story.history.standing(GROUP)
    story.history.note_joined(GROUP, 1, "first", before)
    story.owns("first", 1)
    story.wait(SESSION_MS)
    story.history.note_joined(GROUP, 1, "late", before)
    with story.breaks("two owners"):
        story.owns("late", 1)


def test_a_share_of_the_last_life_that_arrives_late_says_nothing_about_the_new_one(story: Story) -> None:
    story.joins("late", 5)
    story.wait(SESSION_MS)
    story.joins("second", 1)
    story.owns("second", 1)
    story.history.note_synced(GROUP, 5, "late", b"", [PLACE])
    story.joins("third", 2)
    story.owns("third", 2)


def test_a_group_with_members_does_not_count_back(story: Story) -> None:
    story.joins("second", 7)
    story.owns("second", 7)
    with story.breaks("generation back"):
        story.joins("third", 6)


def test_a_member_that_is_still_known_is_never_told_an_older_generation(story: Story) -> None:
    story.joins("first", 7)
    story.owns("first", 7)
    story.wait(SESSION_MS)
    with story.breaks("generation back"):
        story.joins("first", 6)


def test_the_next_life_of_a_static_member_owns_what_the_one_before_did(story: Story) -> None:
    history = story.history
    history.leader_assigns(GROUP, 1, "static", b"share")
    story.joins("its first id", 1)
    history.note_synced(GROUP, 1, "its first id", b"share", [("one", 1)], "static")
    story.joins("its second id", 1)
    history.note_synced(GROUP, 1, "its second id", b"share", [("one", 1)], "static")
    with story.breaks("foreign assignment"):
        history.note_synced(GROUP, 1, "its second id", b"of another one", [("one", 1)], "static")


def test_a_claim_holds_for_its_own_lease(story: Story) -> None:
    def claim(member: str, lease_ms: int) -> Claim:
        made = Claim(member)
        made.places, made.heard_us, made.lease_ms = {PLACE: None}, story.now_us, lease_ms
        return made

    story.history.claim("mixed", claim("classic", 600))
    story.wait(599)
    with story.breaks("two owners"):
        story.history.claim("mixed", claim("consumer", 2_000))
    story.wait(1)
    story.history.claim("mixed", claim("consumer", 2_000))
    with story.breaks("two owners"):
        story.history.claim("mixed", claim("classic", 600))


def test_epochs_go_on_while_anybody_is_a_member_and_may_begin_anew_when_nobody_is(story: Story) -> None:
    history = story.history
    late = history.epoch_standing("new")
    history.check_epoch("new", 3, history.epoch_standing("new"))
    history.note_alive("new", "first", story.now_us, SESSION_MS)
    before = history.epoch_standing("new")
    with story.breaks("epoch back"):
        history.check_epoch("new", 2, before)
    story.wait(SESSION_MS)
    history.check_epoch("new", 1, before)
    history.note_alive("new", "second", story.now_us, SESSION_MS)
    history.check_epoch("new", 2, before)  # it asked before anybody was told of the new life
    history.check_epoch("new", 2, late)
    with story.breaks("epoch back"):
        history.check_epoch("new", 1, history.epoch_standing("new"))
