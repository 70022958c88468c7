"""How often members of the consumer protocol are told to report.

Each move of a partition takes a report of its old owner and one of its new one, so a group that changed a moment ago is
told to report often, and more seldom the longer it is quiet. Many groups that change at once, as after a restart, must
not bring the node down by that: only so many members a second are asked to come early.
"""

from __future__ import annotations

from typing import Final

from twinlog.kafka.groups.settings import GroupSettings

MS_A_MEMBER: Final = 1  # a thousand members of one group are asked once a second at most
EARLY_A_SECOND: Final = 2000


class Reports:
    """One object a node."""

    def __init__(self, settings: GroupSettings) -> None:
        self._settings = settings
        self._second = 0
        self._asked = 0

    def interval_ms(self, members: int, quiet_ms: int, now_ms: int) -> int:
        """For a member of a group of so many that has been quiet for so long."""
        usual_ms = self._settings.consumer_heartbeat_interval_ms
        least_ms = max(self._settings.consumer_heartbeat_interval_min_ms, MS_A_MEMBER * members)
        early_ms = max(least_ms, quiet_ms // 2)
        return early_ms if early_ms < usual_ms and self._may_ask(now_ms) else usual_ms

    def _may_ask(self, now_ms: int) -> bool:
        if now_ms // 1000 != self._second:
            self._second, self._asked = now_ms // 1000, 0
        self._asked += 1
        return self._asked <= EARLY_A_SECOND
