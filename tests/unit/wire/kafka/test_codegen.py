"""The committed classes are what the spec makes, and the spec's form is held."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from codegen.generate_kafka import generate
from codegen.import_kafka import import_all
from codegen.kafka_spec import SpecError, read_rooms
from twinlog.wire.kafka import messages

ROOT = Path(__file__).resolve().parents[4]
SPEC = ROOT / "spec" / "kafka"


def test_making_the_classes_again_gives_the_same_bytes() -> None:
    directory = Path(messages.__file__).parent

    made = generate(SPEC, directory)

    assert set(made) == set(directory.glob("*.py"))
    assert [path.name for path, text in made.items() if path.read_text(encoding="utf-8") != text] == []


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("api 1 A\n\nrequest ARequest\n", "not the head"),
        ("api 1 A\n\nrequest ARequest 0\n  Name: string\n", "not a field"),
        ("api 1 A\n\nrequest ARequest 0\n  name: string = null @0+ nonsense\n", "not a field"),
        ("api 1 A\n\nrequest ARequest 0\n    name: string\n", "indented to nowhere"),
        ("api 1 A\n\nrequest ARequest 0\n  name: string\n    inner: string\n", "indented to nowhere"),
        ("api 1 A\n\nrequest ARequest 0\n  part: Nothing\n", "no struct Nothing"),
        ("api 1 A\n\nrequest ARequest 0\n  name: string\n  struct Lonely\n    name: string\n", "never used"),
        ("api 1 A\n\nrequest ARequest 0\n  one: B\n    name: string\n  two: B\n    name: string\n", "defined twice"),
        ("api 1 A\n\nrequest Same 0\n  name: string\n\nresponse Same 0\n  name: string\n", "stands in a and in a"),
    ],
)
def test_a_text_that_does_not_keep_to_the_form_is_refused(tmp_path: Path, text: str, reason: str) -> None:
    (tmp_path / "a.txt").write_text(text, encoding="utf-8")

    with pytest.raises(SpecError, match=reason):
        read_rooms(tmp_path)


def test_definitions_become_our_form(tmp_path: Path) -> None:
    field = {"name": "GroupId", "type": "string", "versions": "0+"}
    inner = {"name": "TopicId", "type": "uuid", "versions": "3+", "ignorable": True}
    request = {
        "apiKey": 77,
        "type": "request",
        "listeners": ["broker"],
        "name": "PokeRequest",
        "validVersions": "1-4",
        "flexibleVersions": "2+",
        "fields": [
            field,
            {"name": "Gone", "type": "int32", "versions": "0"},
            {"name": "MaxBytes", "type": "int32", "versions": "2-3", "default": "0x7fffffff"},
            {"name": "Topics", "type": "[]PokeTopic", "versions": "0+", "nullableVersions": "2+", "fields": [inner]},
            {"name": "Note", "type": "string", "versions": "4+", "taggedVersions": "4+", "tag": 1, "default": "null",
             "nullableVersions": "4+"},
        ],
    }  # fmt: skip
    response = {**request, "type": "response", "name": "PokeResponse", "fields": [{**field, "type": "[]PokeTopic"}]}
    response["commonStructs"] = [{"name": "PokeTopic", "versions": "0+", "fields": [inner]}]
    elsewhere = {**request, "listeners": ["controller"], "apiKey": 78, "name": "OnlyControllersRequest"}
    jar = definitions(tmp_path, [request, response, elsewhere])

    import_all([jar], tmp_path / "spec")

    assert (tmp_path / "spec/poke.txt").read_text(encoding="utf-8") == (
        "api 77 Poke\n\n"
        "request PokeRequest 1-4 flexible 2+\n"
        "  group_id: string\n"
        "  max_bytes: int32 = 2147483647 @2-3\n"
        "  topics: []PokeRequestTopic?2+\n"
        "    topic_id: uuid @3+ ignorable\n"
        "  note: string? = null @4+ tag 1\n"
        "\n"
        "response PokeResponse 1-4 flexible 2+\n"
        "  group_id: []PokeResponseTopic\n"
        "  struct PokeResponseTopic\n"
        "    topic_id: uuid @3+ ignorable\n"
    )
    assert not (tmp_path / "spec/only_controllers.txt").exists()


def definitions(directory: Path, messages: list[dict[str, object]]) -> str:
    """A jar as Kafka's, with comments in front of the definitions, and what the importer takes beside APIs."""
    loose = [
        {"type": "data", "name": name, "validVersions": "0", "flexibleVersions": "none", "fields": []}
        for name in (
            "ConsumerProtocolSubscription",
            "ConsumerProtocolAssignment",
            "ControlRecordTypeSchema",
            "EndTxnMarker",
        )
    ]
    path = directory / "kafka.jar"
    with zipfile.ZipFile(path, "w") as archive:
        for message in [*messages, *loose]:
            text = f"// A comment.\n{json.dumps(message, indent=1)}\n  // And one more.\n"
            archive.writestr(f"common/message/{message['name']}.json", text)
    return str(path)
