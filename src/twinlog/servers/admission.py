"""Who may come in: what the listeners of a node share, whatever they speak."""

from __future__ import annotations


class Admission:
    """Counts the connections of clients behind all doors. The HTTP side does not ask: it has a small limit of its own,
    and somebody has to be able to look when everything is full."""

    __slots__ = ("connection_count", "connections_max", "memory_is_scarce", "turned_away_count")

    def __init__(self, connections_max: int = 0) -> None:
        self.connections_max = connections_max  # 0: nobody knows how many the process may have
        self.connection_count = 0
        self.memory_is_scarce = False
        self.turned_away_count = 0

    def refusal(self) -> str | None:
        """Why nobody else may come in now."""
        if self.memory_is_scarce:
            return "memory is scarce"
        if 0 < self.connections_max <= self.connection_count:
            return f"the process has {self.connection_count} connections, and may not have many more files open"
        return None
