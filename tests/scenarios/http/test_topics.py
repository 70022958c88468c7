"""Topics, records and groups over HTTP."""

from __future__ import annotations

import confluent_kafka

from tests.kit.http import Api
from twinlog.testing import Broker


def test_a_topic_is_created_shown_configured_and_deleted(api: Api, name: str) -> None:
    made = api.call("PUT", f"/api/topics/{name}", {"partitions": 3, "configs": {"retention.ms": 60000}})
    assert (made.status, made.json["partitions"]) == (201, 3)
    assert api.call("PUT", f"/api/topics/{name}", {}).status == 409
    assert [each["partition"] for each in api.get(f"/api/topics/{name}/partitions")] == [0, 1, 2]
    assert api.put(f"/api/topics/{name}/configs", {"configs": {"cleanup.policy": "compact", "retention.ms": None}})
    values = {each["name"]: each["value"] for each in api.get(f"/api/topics/{name}/configs")}
    assert values["cleanup.policy"] == "compact"
    assert api.get(f"/api/topics/{name}")["configs"] == {"cleanup.policy": "compact"}
    bad = api.call("PUT", f"/api/topics/{name}/configs", {"configs": {"retention.ms": "soon"}})
    assert bad.status == 400
    api.put(f"/api/topics/{name}/partitions", {"count": 5})
    assert api.get(f"/api/topics/{name}")["partitions"] == 5
    assert name in [each["name"] for each in api.get("/api/topics")]
    api.delete(f"/api/topics/{name}")
    assert api.call("GET", f"/api/topics/{name}").status == 404


def test_records_are_written_and_looked_at_by_offset_time_and_key(api: Api, http_broker: Broker, name: str) -> None:
    api.put(f"/api/topics/{name}", {"partitions": 1})
    first = api.post(f"/api/topics/{name}/records", {"key": "k1", "value": '{"a": 1}', "headers": {"h": "x"}})
    assert first == {"partition": 0, "offset": 0}
    producer = confluent_kafka.Producer({"bootstrap.servers": http_broker.kafka})
    for number in range(20):
        producer.produce(name, f"value {number}", key=f"key{number % 2}")
    producer.produce(name, b"\xff\xfe")
    assert producer.flush(20) == 0
    page = api.get(f"/api/topics/{name}/records?offset=0&count=5")
    assert [each["offset"] for each in page["records"]] == [0, 1, 2, 3, 4]
    assert page["offset_next"] == 5
    assert page["high_watermark"] == 22
    found = page["records"][0]
    assert (found["key"], found["value"], found["form"]) == ({"text": "k1"}, {"text": '{"a": 1}'}, "json")
    assert found["headers"] == [{"name": "h", "value": {"text": "x"}}]
    (last,) = api.get(f"/api/topics/{name}/records?offset=-1")["records"]
    assert (last["value"], last["form"]) == ({"base64": "//4="}, "bytes")
    assert len(api.get(f"/api/topics/{name}/records?offset=0&key=key1")["records"]) == 10
    assert [e["offset"] for e in api.get(f"/api/topics/{name}/records?offset=0&contains=value+7")["records"]] == [8]
    at = api.get(f"/api/topics/{name}/records?time={page['records'][1]['timestamp_ms']}&count=1")
    assert at["records"][0]["offset"] <= 1
    consumer = confluent_kafka.Consumer({"bootstrap.servers": http_broker.kafka, "group.id": "reader"})
    consumer.assign([confluent_kafka.TopicPartition(name, 0, 0)])
    message = consumer.poll(20)
    assert message is not None and message.value() == b'{"a": 1}'
    consumer.close()
    api.delete(f"/api/topics/{name}/records?partition=0&before=10")
    assert api.get(f"/api/topics/{name}/partitions")[0]["offset_start"] == 10


def test_a_group_shows_its_lag_and_is_reset(api: Api, http_broker: Broker, name: str) -> None:
    api.put(f"/api/topics/{name}", {"partitions": 2})
    for number in range(6):
        api.post(f"/api/topics/{name}/records", {"value": str(number), "partition": number % 2})
    group = f"group-{name}"
    consumer = confluent_kafka.Consumer(
        {"bootstrap.servers": http_broker.kafka, "group.id": group, "auto.offset.reset": "earliest"}
    )
    consumer.subscribe([name])
    seen = []
    while len(seen) < 6:
        message = consumer.poll(20)
        assert message is not None
        assert message.error() is None
        seen.append(message.value())
    consumer.commit(asynchronous=False)
    told = api.get(f"/api/groups/{group}")
    assert (told["state"], told["lag"], len(told["members"])) == ("Stable", 0, 1)
    assert {each["member"] for each in told["offsets"]} == {told["members"][0]["id"]}
    busy = api.call("POST", f"/api/groups/{group}/offsets", {"topic": name, "to": "earliest"})
    assert (busy.status, busy.json["error"]) == (409, "non_empty_group")
    consumer.close()
    dry = api.post(f"/api/groups/{group}/offsets", {"topic": name, "to": "earliest", "dry_run": True})
    assert [each["offset"] for each in dry] == [0, 0]
    assert api.get(f"/api/groups/{group}")["lag"] == 0
    api.post(f"/api/groups/{group}/offsets", {"topic": name, "shift": -2})
    assert api.get(f"/api/groups/{group}")["lag"] == 4
    assert group in [each["name"] for each in api.get("/api/groups")]
    assert api.get(f"/api/topics/{name}/groups") == [group]
    api.delete(f"/api/groups/{group}")
    assert api.call("GET", f"/api/groups/{group}").status == 404


def test_logs_and_broker_configs_are_told(api: Api, name: str) -> None:
    api.put(f"/api/topics/{name}", {"partitions": 1})
    (directory,) = api.get("/api/logs")
    assert name in [each["topic"] for each in directory["logs"]]
    assert directory["free_bytes"] > 0
    assert {each["name"] for each in api.get("/api/broker-configs")} >= {"log.retention.ms"}


def test_kafka_clients_are_among_the_connections(api: Api, http_broker: Broker, name: str) -> None:
    api.put(f"/api/topics/{name}")
    producer = confluent_kafka.Producer({"bootstrap.servers": http_broker.kafka, "client.id": "look-at-me"})
    producer.produce(name, "v")
    assert producer.flush(20) == 0
    found = [each for each in api.get("/api/connections") if each["client_properties"].get("client_id") == "look-at-me"]
    assert {each["protocol"] for each in found} == {"Kafka"}
    assert max(each["requests"] for each in found) > 0


def test_the_api_describes_every_route_of_itself(api: Api) -> None:
    document = api.get("/api/openapi.json")
    assert document["openapi"].startswith("3.1")
    assert "get" in document["paths"]["/api/queues/{vhost}/{name}"]
    ids = [each["operationId"] for path in document["paths"].values() for each in path.values()]
    assert len(ids) == len(set(ids)) > 120
    page = api.as_user(None).call("GET", "/api")
    assert page.headers["content-type"].startswith("text/html")
    assert b"/api/queues/{vhost}/{name}" in page.body
    assert b"http://" not in page.body and b"https://" not in page.body, "nothing from elsewhere"


def test_an_open_transaction_is_shown_until_it_ends(api: Api, http_broker: Broker, name: str) -> None:
    api.put(f"/api/topics/{name}")
    producer = confluent_kafka.Producer({"bootstrap.servers": http_broker.kafka, "transactional.id": f"id-{name}"})
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.produce(name, "v")
    producer.flush(20)
    told = api.get(f"/api/transactions/id-{name}")
    assert (told["state"], told["partitions"]) == ("Ongoing", [{"topic": name, "partition": 0}])
    assert [each["name"] for each in api.get("/api/transactions?state=Ongoing")] == [f"id-{name}"]
    producer.commit_transaction(30)
    while (state := api.get(f"/api/transactions/id-{name}")["state"]) == "PrepareCommit":
        pass  # the markers are on their way
    assert state == "CompleteCommit"


def test_quotas_are_set_shown_and_lifted(api: Api, name: str) -> None:
    api.put("/api/quotas", {"user": name, "client_id": "*", "values": {"producer_byte_rate": 1000}})
    told = [each for each in api.get("/api/quotas") if each.get("user") == name]
    assert told == [{"user": name, "client_id": "*", "values": {"producer_byte_rate": 1000.0}}]
    bad = api.call("PUT", "/api/quotas", {"user": name, "values": {"producer_byte_rate": -1}})
    assert (bad.status, bad.json["error"]) == (400, "invalid_request")
    api.put("/api/quotas", {"user": name, "client_id": "*", "values": {"producer_byte_rate": None}})
    assert [each for each in api.get("/api/quotas") if each.get("user") == name] == []


def test_records_of_all_partitions_come_in_the_order_of_their_times(api: Api, name: str) -> None:
    api.put(f"/api/topics/{name}", {"partitions": 3})
    for number in range(9):
        api.post(
            f"/api/topics/{name}/records", {"value": str(number), "key": f"k{number % 2}", "partition": number % 3}
        )
    where = f"/api/topics/{name}/records?partition=all"
    found = api.get(f"{where}&count=4")
    assert [each["value"]["text"] for each in found["records"]] == ["5", "6", "7", "8"]
    assert [each["partition"] for each in found["records"]] == [2, 0, 1, 2]
    assert (found["partition"], found["records_there"]) == (None, 9)
    assert [each["value"]["text"] for each in api.get(f"{where}&offset=0&count=4")["records"]] == ["0", "1", "2", "3"]
    assert [each["value"]["text"] for each in api.get(f"{where}&offset=0&key=k1")["records"]] == ["1", "3", "5", "7"]
    from_sixth = found["records"][1]["timestamp_ms"]
    assert "6" in [each["value"]["text"] for each in api.get(f"{where}&time={from_sixth}")["records"]]
    assert api.call("GET", f"{where}&offset=2").status == 400
    api.put(f"/api/topics/{name}/partitions", {"count": 101})
    assert "name one" in api.call("GET", where).reason
    api.delete(f"/api/topics/{name}")
