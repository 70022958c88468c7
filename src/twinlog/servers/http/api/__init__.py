"""The routes, one module a noun. ``ALL_ROUTES`` is every one of them, in the order of the API's page."""

from __future__ import annotations

from typing import Final

from twinlog.servers.http.api import (
    bindings,
    clients,
    console,
    definitions,
    documents,
    events,
    exchanges,
    groups,
    health,
    limits,
    messages,
    metrics,
    overview,
    permissions,
    pipelines,
    policies,
    queues,
    quotas,
    records,
    sessions,
    topics,
    transactions,
    users,
    vhosts,
)
from twinlog.servers.http.router import Route

MODULES: Final = (
    overview,
    sessions,
    vhosts,
    users,
    permissions,
    policies,
    limits,
    exchanges,
    queues,
    messages,
    bindings,
    clients,
    definitions,
    topics,
    records,
    groups,
    transactions,
    quotas,
    pipelines,
    health,
    events,
    metrics,
    documents,
    console,
)
ALL_ROUTES: Final[tuple[Route, ...]] = tuple(route for module in MODULES for route in module.routes.all)
