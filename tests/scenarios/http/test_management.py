"""RabbitMQ's management API: declared over HTTP, it is there, and looks as RabbitMQ's tools expect."""

from __future__ import annotations

from tests.kit.http import Api


def names(found: list[dict[str, object]]) -> list[object]:
    return [each["name"] for each in found]


def test_the_overview_names_the_node_its_listeners_and_totals(api: Api) -> None:
    found = api.get("/api/overview")
    assert found["product_name"] == "Twinlog"
    assert {each["protocol"] for each in found["listeners"]} >= {"kafka", "http"}
    assert set(found["object_totals"]) == {"channels", "connections", "consumers", "exchanges", "queues"}
    assert set(found["queue_totals"]) >= {"messages", "messages_ready", "messages_unacknowledged"}
    (node,) = api.get("/api/nodes")
    assert node["name"] == found["node"]
    assert node["mem_used"] > 1_000_000
    assert api.get(f"/api/nodes/{node['name']}/memory")["memory"]["total"]["rss"] > 1_000_000


def test_a_queue_is_declared_shown_and_deleted(api: Api, vhost: str) -> None:
    path = f"/api/queues/{vhost}/q"
    assert api.put(path, {"arguments": {"x-max-length": 5}}) == 201
    assert api.put(path, {"arguments": {"x-max-length": 5}}) == 204
    found = api.get(path)
    assert (found["durable"], found["type"], found["arguments"]) == (True, "classic", {"x-max-length": 5})
    assert {"messages", "messages_ready", "messages_unacknowledged", "consumers", "state"} <= set(found)
    other = api.call("PUT", path, {"arguments": {"x-max-length": 6}})
    assert (other.status, other.json["error"]) == (400, "bad_request")
    assert names(api.get(f"/api/queues/{vhost}")) == ["q"]
    api.delete(path)
    assert api.call("GET", path).status == 404


def test_the_vhost_slash_is_named_by_percent_2f(api: Api, name: str) -> None:
    api.put(f"/api/queues/%2F/{name}")
    assert api.get(f"/api/queues/%2f/{name}")["vhost"] == "/"
    api.delete(f"/api/queues/%2F/{name}")
    assert api.call("GET", f"/api/queues/%252F/{name}").status == 404


def test_names_with_slashes_spaces_and_percent_signs_are_decoded_once(api: Api, vhost: str) -> None:
    api.put(f"/api/queues/{vhost}/a%2Fb%20%2525%C3%A9")
    assert names(api.get(f"/api/queues/{vhost}")) == ["a/b %25é"]
    api.delete(f"/api/queues/{vhost}/a%2Fb%20%2525%C3%A9")


def test_exchanges_and_bindings_come_and_go_by_their_properties_key(api: Api, vhost: str) -> None:
    api.put(f"/api/exchanges/{vhost}/ex", {"type": "topic"})
    api.put(f"/api/exchanges/{vhost}/fan", {"type": "fanout"})
    api.put(f"/api/queues/{vhost}/q")
    between = f"/api/bindings/{vhost}/e/ex/q/q"
    made = api.call("POST", between, {"routing_key": "a.#"})
    assert (made.status, made.headers["location"]) == (201, f"/api/bindings/{vhost}/e/ex/q/q/a.%2523")
    api.post(between, {"routing_key": "a.#", "arguments": {"x": 1}})
    api.post(between, {"routing_key": ""})
    keys = {each["properties_key"]: each["arguments"] for each in api.get(between)}
    assert set(keys) >= {"a.%23", "~"}
    (marked,) = (key for key, arguments in keys.items() if arguments)
    api.delete(f"{between}/{marked}")
    api.delete(made.headers["location"])
    assert [each["properties_key"] for each in api.get(between)] == ["~"]
    api.post(f"/api/bindings/{vhost}/e/ex/e/fan", {"routing_key": "k"})
    assert [each["destination"] for each in api.get(f"/api/exchanges/{vhost}/ex/bindings/source")] == ["q", "fan"]
    assert [each["source"] for each in api.get(f"/api/exchanges/{vhost}/fan/bindings/destination")] == ["ex"]
    assert [each["source"] for each in api.get(f"/api/queues/{vhost}/q/bindings")] == ["", "ex"]
    assert api.call("DELETE", f"{between}/nothing").status == 404


def test_where_a_message_would_go_is_told_with_the_way(api: Api, vhost: str) -> None:
    for exchange, kind in (("in", "topic"), ("out", "fanout")):
        api.put(f"/api/exchanges/{vhost}/{exchange}", {"type": kind})
    for queue in ("one", "two", "three"):
        api.put(f"/api/queues/{vhost}/{queue}")
    api.post(f"/api/bindings/{vhost}/e/in/e/out", {"routing_key": "eu.#"})
    api.post(f"/api/bindings/{vhost}/e/out/q/one")
    api.post(f"/api/bindings/{vhost}/e/out/q/two")
    api.post(f"/api/bindings/{vhost}/e/in/q/three", {"routing_key": "us.*"})
    told = api.post(f"/api/exchanges/{vhost}/in/route", {"routing_key": "eu.berlin"})
    assert sorted(told["queues"]) == ["one", "two"]
    assert [(hop["source"], hop["destination"]) for hop in told["hops"]] == [
        ("in", "out"),
        ("out", "one"),
        ("out", "two"),
    ]
    assert api.post(f"/api/exchanges/{vhost}/in/route", {"routing_key": "asia"})["queues"] == []


def test_lists_are_paged_filtered_sorted_and_narrowed(api: Api, vhost: str) -> None:
    for number in range(25):
        api.put(f"/api/queues/{vhost}/q{number:02}", {"durable": False})
    page = api.get(f"/api/queues/{vhost}?page=2&page_size=10&sort=name&columns=name,messages_details.rate")
    assert (page["total_count"], page["page_count"], page["item_count"]) == (25, 3, 10)
    assert page["items"][0] == {"name": "q10", "messages_details": {"rate": 0.0}}
    found = api.get(f"/api/queues/{vhost}?name=%5Eq2&use_regex=true&page=1&sort=name&sort_reverse=true")
    assert names(found["items"]) == ["q24", "q23", "q22", "q21", "q20"]
    assert found["filtered_count"] == 5
    assert api.call("GET", f"/api/queues/{vhost}?page=9").status == 400
    assert api.call("GET", f"/api/queues/{vhost}?name=(&use_regex=true").status == 400


def test_users_tags_permissions_and_limits(api: Api, vhost: str, name: str) -> None:
    user = f"user-{name}"
    assert api.put(f"/api/users/{user}", {"password": "secret", "tags": "management"}) == 201
    assert api.get(f"/api/users/{user}")["tags"] == ["management"]
    assert "secret" not in str(api.get(f"/api/users/{user}"))
    mine = api.as_user(user)
    assert mine.get("/api/whoami") == {"name": user, "tags": ["management"], "is_internal_user": False}
    assert mine.call("GET", f"/api/queues/{vhost}").status == 401
    api.put(f"/api/permissions/{vhost}/{user}", {"configure": "^mine-", "write": ".*", "read": ".*"})
    assert mine.get(f"/api/queues/{vhost}") == []
    assert names(mine.get("/api/vhosts")) == [vhost]
    assert mine.put(f"/api/queues/{vhost}/mine-1") == 201
    refused = mine.call("PUT", f"/api/queues/{vhost}/other")
    assert (refused.status, "configure access" in refused.reason) == (401, True)
    assert mine.call("GET", "/api/users").status == 401
    api.put(f"/api/user-limits/{user}/max-channels", {"value": 7})
    assert api.get(f"/api/user-limits/{user}") == [{"user": user, "value": {"max-channels": 7}}]
    api.put(f"/api/users/{user}", {"tags": ""})
    assert mine.call("GET", "/api/whoami").status == 401, "without a management tag nobody comes in"
    api.delete(f"/api/users/{user}")
    assert api.call("DELETE", "/api/users/guest").status == 400, "nobody saws off the branch he sits on"


def test_policies_are_put_shown_with_their_queue_and_deleted(api: Api, vhost: str) -> None:
    wanted = {"pattern": "^q", "definition": {"max-length": 9}, "priority": 3, "apply-to": "queues"}
    assert api.put(f"/api/policies/{vhost}/p", wanted) == 201
    assert api.put(f"/api/policies/{vhost}/p", wanted) == 204
    api.put(f"/api/queues/{vhost}/q1")
    found = api.get(f"/api/queues/{vhost}/q1")
    assert (found["policy"], found["effective_policy_definition"]) == ("p", {"max-length": 9})
    assert api.get(f"/api/policies/{vhost}/p") == {"name": "p", "vhost": vhost, **wanted}
    bad = api.call("PUT", f"/api/policies/{vhost}/bad", {**wanted, "definition": {"no-such-key": 1}})
    assert (bad.status, "no-such-key" in bad.reason) == (400, True)
    api.put(f"/api/operator-policies/{vhost}/o", {"pattern": ".*", "definition": {"max-length": 2}})
    assert api.get(f"/api/queues/{vhost}/q1")["operator_policy"] == "o"
    api.delete(f"/api/policies/{vhost}/p")
    api.delete(f"/api/operator-policies/{vhost}/o")
    assert api.get(f"/api/queues/{vhost}/q1")["policy"] is None


def test_definitions_go_out_and_come_back_into_another_vhost(api: Api, vhost: str, name: str) -> None:
    api.put(f"/api/exchanges/{vhost}/ex", {"type": "headers", "arguments": {"alternate-exchange": "alt"}})
    api.put(f"/api/queues/{vhost}/kept", {"arguments": {"x-message-ttl": 1000}})
    api.put(f"/api/queues/{vhost}/passing", {"durable": False})
    api.post(f"/api/bindings/{vhost}/e/ex/q/kept", {"routing_key": "", "arguments": {"x-match": "any", "a": 1}})
    api.put(f"/api/policies/{vhost}/p", {"pattern": "x", "definition": {"max-length": 1}})
    told = api.get(f"/api/definitions/{vhost}")
    assert names(told["queues"]) == ["kept"]
    other = f"{name}-copy"
    api.put(f"/api/vhosts/{other}")
    api.post(f"/api/definitions/{other}", told)
    api.post(f"/api/definitions/{other}", told)  # again: nothing is new, nothing fails
    again = api.get(f"/api/definitions/{other}")
    assert {key: value for key, value in again.items() if key != "metadata"} == {
        key: value for key, value in told.items() if key != "metadata"
    }
    api.delete(f"/api/vhosts/{other}")
    whole = api.get("/api/definitions")
    assert {"users", "vhosts", "permissions", "queues", "exchanges", "bindings"} <= set(whole)
    api.post("/api/definitions", whole)


def test_an_import_that_cannot_be_says_which_entry(api: Api, vhost: str) -> None:
    answer = api.call(
        "POST", f"/api/definitions/{vhost}", {"exchanges": [{"name": "x", "type": "no-such-type", "durable": True}]}
    )
    assert answer.status == 400
    assert answer.reason.startswith("exchange x: ")
    assert api.call("POST", f"/api/definitions/{vhost}", {"queues": {"name": "q"}}).status == 400


def test_health_checks_answer_for_listeners_and_alarms(api: Api) -> None:
    port = next(each["port"] for each in api.get("/api/overview")["listeners"] if each["protocol"] == "kafka")
    for check in ("alarms", "local-alarms", "virtual-hosts", "node-is-quorum-critical", f"port-listener/{port}"):
        assert api.get(f"/api/health/checks/{check}")["status"] == "ok", check
    missing = api.call("GET", "/api/health/checks/port-listener/1")
    assert (missing.status, missing.json["status"], missing.json["missing"]) == (503, "failed", 1)
    assert api.get("/api/aliveness-test/%2F") == {"status": "ok"}
    assert api.get("/api/queues/%2F/aliveness-test")["messages"] == 0
    api.delete("/api/queues/%2F/aliveness-test")
    nobody = api.as_user(None)
    assert nobody.call("GET", "/health/ready").json == {"status": "ok"}
    assert nobody.call("GET", "/api/health/checks/alarms").status == 401


def test_limits_of_a_vhost_are_obeyed(api: Api, vhost: str) -> None:
    api.put(f"/api/vhost-limits/{vhost}/max-queues", {"value": 1})
    assert api.get(f"/api/vhost-limits/{vhost}") == [{"vhost": vhost, "value": {"max-queues": 1}}]
    api.put(f"/api/queues/{vhost}/first")
    assert api.call("PUT", f"/api/queues/{vhost}/second").status == 400
    api.delete(f"/api/vhost-limits/{vhost}/max-queues")
    api.put(f"/api/queues/{vhost}/second")


def test_head_answers_like_get_without_a_body(api: Api) -> None:
    got, head = api.call("GET", "/api/vhosts"), api.call("HEAD", "/api/vhosts")
    assert (head.status, head.body) == (200, b"")
    assert abs(int(head.headers["content-length"]) - int(got.headers["content-length"])) < 200


def test_a_wrong_method_is_told_the_right_ones(api: Api) -> None:
    answer = api.call("PUT", "/api/overview", {})
    assert (answer.status, answer.headers["allow"]) == (405, "GET")
