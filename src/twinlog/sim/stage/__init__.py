"""Where a trial happens: what its seed chose, the broker's process and its supervisor, what goes wrong, and the history
of what clients were told.
"""

from __future__ import annotations
