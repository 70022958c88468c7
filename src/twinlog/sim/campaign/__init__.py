"""Trials: a whole node, clients and faults in one seeded world, and the judgement of what they saw.

A trial has two halves. While it is unsafe, anything may break that the seed chose; nothing false may be said. Then
everything is mended, and whatever was under way has to come to its end within a bound of virtual time.
``trial.py`` runs one seed, ``many.py`` runs thousands on all cores.
"""

from __future__ import annotations

from twinlog.sim.campaign.trial import WORKLOADS, Outcome, try_seed

__all__ = ["WORKLOADS", "Outcome", "try_seed"]
