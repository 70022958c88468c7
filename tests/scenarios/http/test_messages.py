"""Messages of queues over HTTP: published, looked at without loss, purged, moved, requeued where they died."""

from __future__ import annotations

import pytest

from tests.kit.http import Api


def publish(api: Api, vhost: str, key: str, payload: str, exchange: str = "amq.default", **properties: object) -> bool:
    body = {"routing_key": key, "payload": payload, "payload_encoding": "string", "properties": properties}
    return bool(api.post(f"/api/exchanges/{vhost}/{exchange}/publish", body)["routed"])


def look(api: Api, vhost: str, queue: str, **asked: object) -> list[dict[str, object]]:
    found: list[dict[str, object]] = api.post(f"/api/queues/{vhost}/{queue}/get", {"count": 100, **asked})
    return found


def payloads(found: list[dict[str, object]]) -> list[object]:
    return [each["payload"] for each in found]


@pytest.fixture
def queue(api: Api, vhost: str) -> str:
    api.put(f"/api/queues/{vhost}/q")
    return "q"


def test_looking_loses_nothing_and_keeps_the_order(api: Api, vhost: str, queue: str) -> None:
    for number in range(5):
        assert publish(api, vhost, queue, f"m{number}", delivery_mode=2)
    first = look(api, vhost, queue, count=3)
    assert payloads(first) == ["m0", "m1", "m2"]
    assert [each["message_count"] for each in first] == [4, 3, 2]
    again = look(api, vhost, queue)
    assert payloads(again) == ["m0", "m1", "m2", "m3", "m4"]
    assert [each["redelivered"] for each in again] == [True, True, True, False, False]
    assert api.get(f"/api/queues/{vhost}/{queue}")["messages"] == 5


def test_taking_takes_and_bytes_that_are_no_text_come_as_base64(api: Api, vhost: str, queue: str) -> None:
    body = {"routing_key": queue, "payload": "/w==", "payload_encoding": "base64", "properties": {}}
    api.post(f"/api/exchanges/{vhost}/amq.default/publish", body)
    publish(api, vhost, queue, "x" * 100, content_type="text/plain", headers={"a": [1, {"b": True}]})
    found = look(api, vhost, queue, ackmode="ack_requeue_false", truncate=10)
    assert [(each["payload"], each["payload_encoding"]) for each in found] == [("/w==", "base64"), ("x" * 10, "string")]
    assert found[1]["payload_bytes"] == 100
    assert found[1]["properties"] == {"content_type": "text/plain", "headers": {"a": [1, {"b": True}]}}
    assert look(api, vhost, queue) == []


def test_what_nobody_takes_is_said_to_be_unrouted(api: Api, vhost: str) -> None:
    assert not publish(api, vhost, "nowhere", "m")
    assert api.call("POST", f"/api/exchanges/{vhost}/no-such/publish", {}).status == 404


def test_purging_empties_a_queue(api: Api, vhost: str, queue: str) -> None:
    publish(api, vhost, queue, "m")
    api.delete(f"/api/queues/{vhost}/{queue}/contents")
    assert look(api, vhost, queue) == []


def test_messages_move_to_another_queue_whole(api: Api, vhost: str, queue: str) -> None:
    api.put(f"/api/queues/{vhost}/other")
    for number in range(250):
        publish(api, vhost, queue, f"m{number}", headers={"n": number})
    assert api.post(f"/api/queues/{vhost}/{queue}/move", {"destination": "other"}) == {"moved": 250, "stayed": 0}
    found = look(api, vhost, "other", count=1000)
    assert payloads(found) == [f"m{number}" for number in range(250)]
    assert found[7]["properties"] == {"headers": {"n": 7}}
    assert look(api, vhost, queue) == []


def test_what_the_other_queue_refuses_stays(api: Api, vhost: str, queue: str) -> None:
    api.put(f"/api/queues/{vhost}/small", {"arguments": {"x-max-length": 2, "x-overflow": "reject-publish"}})
    for number in range(5):
        publish(api, vhost, queue, f"m{number}")
    told = api.post(f"/api/queues/{vhost}/{queue}/move", {"destination": "small"})
    assert told == {"moved": 2, "stayed": 3}
    assert payloads(look(api, vhost, queue)) == ["m2", "m3", "m4"]


def test_dead_letters_go_back_to_where_they_died(api: Api, vhost: str) -> None:
    api.put(f"/api/queues/{vhost}/dead")
    source = {"x-dead-letter-exchange": "", "x-dead-letter-routing-key": "dead"}
    api.put(f"/api/queues/{vhost}/work", {"arguments": source})
    publish(api, vhost, "work", "poison")
    assert payloads(look(api, vhost, "work", ackmode="reject_requeue_false")) == ["poison"]
    (letter,) = look(api, vhost, "dead")
    assert letter["properties"]["headers"]["x-death"][0]["reason"] == "rejected"  # type: ignore[index]
    publish(api, vhost, "dead", "of unknown origin")
    assert api.post(f"/api/queues/{vhost}/dead/move") == {"moved": 1, "stayed": 1}
    assert payloads(look(api, vhost, "work")) == ["poison"]


def test_only_who_may_write_publishes_and_only_who_may_read_looks(api: Api, vhost: str, queue: str, name: str) -> None:
    user = f"user-{name}"
    api.put(f"/api/users/{user}", {"password": "secret", "tags": "management"})
    api.put(f"/api/permissions/{vhost}/{user}", {"configure": "", "write": "", "read": ""})
    mine = api.as_user(user)
    body = {"routing_key": queue, "payload": "m", "payload_encoding": "string", "properties": {}}
    assert mine.call("POST", f"/api/exchanges/{vhost}/amq.default/publish", body).status == 401
    assert mine.call("POST", f"/api/queues/{vhost}/{queue}/get", {}).status == 401
    assert mine.call("DELETE", f"/api/queues/{vhost}/{queue}/contents").status == 401
    forged = {**body, "properties": {"user_id": "somebody"}}
    assert api.call("POST", f"/api/exchanges/{vhost}/amq.default/publish", forged).status == 400
    api.delete(f"/api/users/{user}")
