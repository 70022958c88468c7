"""The page of docs that draws the states of groups, from the tables that the code itself obeys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from twinlog.kafka.groups.classic import CLASSIC_MOVES
from twinlog.kafka.groups.consumer import CONSUMER_MOVES
from twinlog.kafka.groups.types import GroupState

MEANINGS: Final[Mapping[GroupState, str]] = {
    GroupState.EMPTY: "No members. Offsets stay until they expire or the group is deleted.",
    GroupState.PREPARING_REBALANCE: "Members are asked to join again; the group waits for them.",
    GroupState.COMPLETING_REBALANCE: "All have joined; the group waits for its leader's assignment.",
    GroupState.ASSIGNING: "Members or topics changed; the next target is about to be computed.",
    GroupState.RECONCILING: "The target stands; members give up and take over partitions one by one.",
    GroupState.STABLE: "Every member has what it should have.",
    GroupState.DEAD: "There is no such group: it was deleted, or nothing is left of it.",
}

HEAD: Final = """# States of groups

Made from the program by `make docs`: change the tables in the code, not this page. `twinlog group list` shows states.
"""


def group_states_page() -> str:
    return HEAD + "".join(
        [
            "\n## Classic protocol\n\n",
            *drawing(CLASSIC_MOVES),
            "\n## Consumer protocol\n\n",
            *drawing(CONSUMER_MOVES),
            "\n## What they mean\n\n| state | meaning |\n| --- | --- |\n",
            *(f"| {state.value} | {meaning} |\n" for state, meaning in MEANINGS.items()),
        ]
    )


def drawing(moves: Mapping[GroupState, frozenset[GroupState]]) -> Iterator[str]:
    """In the language of mermaid, which the usual viewers of Markdown draw."""
    yield "```mermaid\nstateDiagram-v2\n    [*] --> Empty\n"
    for state, following in moves.items():
        for after in GroupState:
            if after in following and after is not state:
                yield f"    {state.value} --> {after.value}\n"
    yield "    Dead --> [*]\n```\n"
