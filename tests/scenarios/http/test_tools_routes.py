"""Paths that RabbitMQ's tools ask for (rabbitmqadmin, Terraform, probes): each answers what is true here."""

from __future__ import annotations

import pytest

from tests.kit.http import Api

ANSWERED = [
    "/api/auth",
    "/api/auth/hash_password/secret",
    "/api/cluster-name",
    "/api/deprecated-features",
    "/api/deprecated-features/used",
    "/api/extensions",
    "/api/feature-flags",
    "/api/global-parameters",
    "/api/healthchecks/node",
    "/api/operator-policies",
    "/api/parameters",
    "/api/parameters/federation-upstream/%2F",
    "/api/queues/detailed",
    "/api/topic-permissions",
    "/api/user-limits",
    "/api/users/without-permissions",
    "/api/vhost-limits",
    *(
        f"/api/health/checks/{name}"
        for name in (
            "alarms",
            "below-node-connection-limit",
            "certificate-expiration/1/weeks",
            "is-in-service",
            "local-alarms",
            "metadata-store/initialized",
            "metadata-store/initialized/with-data",
            "node-is-mirror-sync-critical",
            "node-is-quorum-critical",
            "protocol-listener/amqp",
            "quorum-queues-without-elected-leaders/all-vhosts",
            "quorum-queues-without-elected-leaders/all-vhosts/pattern/q",
            "quorum-queues-without-elected-leaders/vhost/%2F/pattern/q",
            "ready-to-serve-clients",
            "virtual-hosts",
        )
    ),
]
REFUSED = [
    ("PUT", "/api/cluster-name", {"name": "x"}, 400),
    ("PUT", "/api/feature-flags/quorum_queue/enable", {}, 400),
    ("PUT", "/api/global-parameters/mqtt", {"value": 1}, 400),
    ("DELETE", "/api/global-parameters/mqtt", None, 404),
    ("DELETE", "/api/global-parameters/cluster_name", None, 400),
    ("PUT", "/api/parameters/shovel/%2F/mine", {"value": {"src-uri": "amqp://"}}, 400),
    ("GET", "/api/parameters/shovel/%2F/mine", None, 404),
    ("DELETE", "/api/parameters/shovel/%2F/mine", None, 404),
    ("POST", "/api/vhosts/%2F/deletion/protection", {}, 403),
    ("DELETE", "/api/topic-permissions/%2F/guest/nothing", None, 404),
    ("DELETE", "/api/reset/another@node", None, 404),
]


@pytest.mark.parametrize("path", ANSWERED)
def test_what_tools_poll_is_answered(api: Api, path: str) -> None:
    api.get(path)


@pytest.mark.parametrize(("method", "path", "body", "status"), REFUSED)
def test_what_there_is_not_is_refused_with_a_sentence(
    api: Api, method: str, path: str, body: object, status: int
) -> None:
    answer = api.call(method, path, body)
    assert (answer.status, bool(answer.reason)) == (status, True)


def test_one_topic_permission_of_several_is_taken_away(api: Api, vhost: str) -> None:
    for exchange in ("one", "two"):
        api.put(f"/api/topic-permissions/{vhost}/guest", {"exchange": exchange, "write": "^a", "read": ".*"})
    api.delete(f"/api/topic-permissions/{vhost}/guest/one")
    assert [each["exchange"] for each in api.get(f"/api/topic-permissions/{vhost}/guest")] == ["two"]


def test_the_memory_of_the_node_is_told_in_bytes_and_in_percent(api: Api) -> None:
    (node,) = api.get("/api/nodes")
    absolute = api.get(f"/api/nodes/{node['name']}/memory")["memory"]
    relative = api.get(f"/api/nodes/{node['name']}/memory/relative")["memory"]
    assert relative["total"] == 100
    assert set(absolute) - {"strategy"} == set(relative)
    assert sum(share for name, share in relative.items() if name != "total") in range(95, 106)


def test_a_reset_forgets_the_past_and_not_the_totals(api: Api, name: str) -> None:
    api.put(f"/api/topics/{name}")
    api.post(f"/api/topics/{name}/records", {"value": "v"})
    while len(api.get("/api/figures")["at_ms"]) < 5:
        pass
    assert api.call("DELETE", "/api/reset").status == 204
    assert len(api.get("/api/figures")["at_ms"]) < 5
    assert api.get("/api/overview")["twinlog"]["totals"]["kafka_records"] >= 1


def test_a_hashed_password_lets_its_user_in(api: Api, name: str) -> None:
    first = api.get("/api/auth/hash_password/s3cret")["ok"]
    assert api.get("/api/auth/hash_password/s3cret")["ok"] != first, "each has a salt of its own"
    api.put(f"/api/users/{name}", {"password_hash": first, "tags": "management"})
    assert Api(api.address, user=name, password="s3cret").get("/api/whoami")["name"] == name
    api.delete(f"/api/users/{name}")


def test_limits_hold_where_they_are_set(api: Api, vhost: str) -> None:
    api.put(f"/api/vhost-limits/{vhost}/max-queues", {"value": 1})
    api.put(f"/api/queues/{vhost}/one")
    refused = api.call("PUT", f"/api/queues/{vhost}/two")
    assert (refused.status, "limit" in refused.reason) == (400, True)
    assert api.get(f"/api/vhost-limits/{vhost}") == [{"vhost": vhost, "value": {"max-queues": 1}}]
    api.delete(f"/api/vhost-limits/{vhost}/max-queues")
    api.put(f"/api/queues/{vhost}/two")
    assert api.call("PUT", f"/api/vhost-limits/{vhost}/max-nonsense", {"value": 1}).status == 400
    assert api.call("PUT", "/api/user-limits/guest/max-nonsense", {"value": 1}).status == 400
