"""Models of clients: they send real requests over simulated wires, keep the retry rules of real clients, and write
down in the history what they asked, what they were told and what they read. A lie is noticed where it is heard.
"""

from __future__ import annotations
