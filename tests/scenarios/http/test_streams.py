"""Streams over HTTP: the same thing shown as a queue and as a topic."""

from __future__ import annotations

from tests.kit.http import Api

STREAM = {"arguments": {"x-queue-type": "stream"}}


def test_a_stream_is_shown_as_a_queue_and_as_a_topic(api: Api, name: str) -> None:
    api.put(f"/api/queues/%2F/{name}", STREAM)
    message = {"routing_key": name, "payload": "hello", "payload_encoding": "string", "properties": {}}
    assert api.post("/api/exchanges/%2F/amq.default/publish", message) == {"routed": True}
    shown = api.get(f"/api/queues/%2F/{name}")
    assert (shown["type"], shown["durable"], shown["messages"], shown["messages_ready"]) == ("stream", True, 1, 1)
    assert shown["twin"] == {"topic": name, "partition": 0} and shown["message_bytes"] > 0
    assert shown["arguments"] == {"x-queue-type": "stream"}
    topic = api.get(f"/api/topics/{name}")
    assert (topic["records"], topic["twins"]) == (1, [{"vhost": "/", "stream": name}])
    assert {"name": name, "type": "stream"}.items() <= next(
        each for each in api.get("/api/queues/%2F") if each["name"] == name
    ).items()
    assert name not in [each["name"] for each in api.get("/api/queues/%2F?streams=false")]
    for method, path in (("DELETE", f"{name}/contents"), ("POST", f"{name}/get")):
        answer = api.call(method, f"/api/queues/%2F/{path}", {"count": 1, "ackmode": "ack_requeue_true"})
        assert answer.status == 400 and "not supported by stream" in answer.reason
    api.delete(f"/api/queues/%2F/{name}")
    assert api.call("GET", f"/api/topics/{name}").status == 404


def test_records_in_streams_are_not_messages_that_wait(api: Api, vhost: str, name: str) -> None:
    api.put(f"/api/queues/{vhost}/{name}", STREAM)
    api.post(f"/api/exchanges/{vhost}/amq.default/publish", {"routing_key": name, "payload": "x", "properties": {}})
    assert api.get(f"/api/vhosts/{vhost}")["messages"] == 0
    text = api.call("GET", "/metrics").body.decode()
    assert "twinlog_stream_messages_refused_total 0" in text
    lines = api.call("GET", "/metrics/per-object").body.decode()
    assert f'rabbitmq_queue_messages_ready{{vhost="{vhost}",queue="{name}"}} 1' in lines


def test_a_topic_of_several_partitions_is_an_exchange_with_streams(api: Api, name: str) -> None:
    api.put(f"/api/topics/{name}", {"partitions": 2})
    exchange = api.get(f"/api/exchanges/%2F/{name}")
    assert (exchange["type"], exchange["durable"], exchange["arguments"]) == ("direct", True, {"x-super-stream": True})
    bound = api.get(f"/api/exchanges/%2F/{name}/bindings/source")
    assert [(each["destination"], each["routing_key"]) for each in bound] == [(f"{name}-0", "0"), (f"{name}-1", "1")]
    for path in (f"/api/queues/%2F/{name}-1", f"/api/exchanges/%2F/{name}"):
        answer = api.call("DELETE", path)
        assert answer.status == 400 and f"topic '{name}'" in answer.reason
    api.delete(f"/api/topics/{name}")
    assert api.call("GET", f"/api/exchanges/%2F/{name}").status == 404


def test_policies_of_streams_are_obeyed_by_their_topics(api: Api, name: str) -> None:
    api.put(f"/api/queues/%2F/{name}", STREAM)
    api.put(
        f"/api/policies/%2F/{name}", {"pattern": f"^{name}$", "definition": {"max-age": "1h"}, "apply-to": "streams"}
    )
    assert api.get(f"/api/queues/%2F/{name}")["policy"] == name
    config = next(each for each in api.get(f"/api/topics/{name}/configs") if each["name"] == "retention.ms")
    assert config["value"] == "3600000"
    api.delete(f"/api/policies/%2F/{name}")
    config = next(each for each in api.get(f"/api/topics/{name}/configs") if each["name"] == "retention.ms")
    assert config["value"] == "-1"
    api.delete(f"/api/queues/%2F/{name}")


def test_streams_survive_the_way_through_definitions(api: Api, vhost: str, name: str) -> None:
    limits = {"arguments": {"x-queue-type": "stream", "x-max-age": "7D", "x-max-length-bytes": 9}}
    api.put(f"/api/queues/{vhost}/{name}", limits)
    api.put(f"/api/exchanges/{vhost}/x", {"type": "topic"})
    api.post(f"/api/bindings/{vhost}/e/x/q/{name}", {"routing_key": "a.#"})
    topic = f"vhost.{vhost.replace('-', '-2d')}.parts"
    api.put(f"/api/topics/{topic}", {"partitions": 3})
    assert api.get(f"/api/topics/{topic}")["twins"] == [{"vhost": vhost, "super_stream": "parts"}]
    told = api.get(f"/api/definitions/{vhost}")
    assert {each["name"]: each["type"] for each in told["queues"]} == dict.fromkeys(
        [name, "parts-0", "parts-1", "parts-2"], "stream"
    )
    api.post(f"/api/definitions/{vhost}", told)
    assert api.get(f"/api/definitions/{vhost}") == told, "on the node that has it, nothing changes"
    api.delete(f"/api/vhosts/{vhost}")
    assert api.call("GET", f"/api/topics/{topic}").status == 404
    api.put(f"/api/vhosts/{vhost}")
    api.post(f"/api/definitions/{vhost}", told)
    again = api.get(f"/api/definitions/{vhost}")
    for section in ("queues", "exchanges", "bindings"):
        assert sorted(map(str, again[section])) == sorted(map(str, told[section]))
    assert api.get(f"/api/topics/{topic}")["partitions"] == 3
