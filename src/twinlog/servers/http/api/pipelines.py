"""Pipelines on Spark, as they report themselves: how far each is, and what stopped it."""

from __future__ import annotations

from typing import Any

from twinlog.base import Refused
from twinlog.servers.http.api.records import store_record
from twinlog.servers.http.api.topics import kafka_refusal
from twinlog.servers.http.listing import QUERY, listed
from twinlog.servers.http.message import Request, Response, no_content, not_found, ok
from twinlog.servers.http.ports import Managed
from twinlog.servers.http.router import ADMINISTRATOR, USER, Routes

routes = Routes("pipelines")


def pipeline_view(managed: Managed, report: dict[str, Any]) -> dict[str, Any]:
    """``silent_ms``: since its last report, by the clocks of two machines."""
    reported_ms = report["reported_ms"]
    return report | {"silent_ms": max(0, managed.now_ms() - reported_ms) if reported_ms is not None else None}


@routes.get("/api/pipelines", USER, "Pipelines on Spark, by their last reports.", query=QUERY)
async def pipelines(managed: Managed, request: Request) -> Response:
    await managed.pipelines.read()
    return await listed(
        managed.tasks,
        request,
        list(managed.pipelines.reports.values()),
        lambda report: str(report["name"]),
        lambda report: pipeline_view(managed, report),
    )


async def known_pipeline(managed: Managed, request: Request) -> dict[str, Any]:
    await managed.pipelines.read()
    report = managed.pipelines.reports.get(request.parameters["name"])
    if report is None:
        raise not_found("no pipeline of that name has reported")
    return report


@routes.get("/api/pipelines/{name}", USER, "One pipeline: its progress, lag and last error.")
async def pipeline(managed: Managed, request: Request) -> Response:
    report = await known_pipeline(managed, request)
    managed.figures.look()
    return ok(pipeline_view(managed, report))


@routes.get("/api/pipelines/{name}/figures", USER, "The pipeline's lag and rows a second over time.")
async def pipeline_figures(managed: Managed, request: Request) -> Response:
    report = await known_pipeline(managed, request)
    return ok(managed.figures.watch(("pipeline", report["name"])).view())


@routes.delete("/api/pipelines/{name}", ADMINISTRATOR, "Forgets a pipeline; what runs comes back by its next report.")
async def forget_pipeline(managed: Managed, request: Request) -> Response:
    report = await known_pipeline(managed, request)
    partition = managed.pipelines.partition
    assert partition is not None
    try:
        await store_record(managed, partition, report["name"].encode(), None)
    except Refused as refused:
        raise kafka_refusal(refused) from None
    await managed.pipelines.read()
    return no_content()
