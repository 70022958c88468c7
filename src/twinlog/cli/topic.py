"""``twinlog topic``: create, list, describe, alter, delete."""

from __future__ import annotations

import uuid
from typing import Annotated, Any

import typer

from twinlog.cli.ending import fail
from twinlog.cli.options import BOOTSTRAP_DEFAULT, Bootstrap, Json, connected, pairs, print_json, print_table
from twinlog.client import Client, TopicView
from twinlog.client.blocking import EARLIEST, LATEST

app = typer.Typer(help="Create, list, describe, alter and delete topics.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(help="The topic.", show_default=False)]
ConfigOption = Annotated[
    list[str], typer.Option("--config", "-c", metavar="NAME=VALUE", help="A topic config, like retention.ms=3600000.")
]


@app.command()
def create(
    name: Name,
    partitions: Annotated[int, typer.Option("--partitions", "-p", help="-1: the broker's default.")] = -1,
    replicas: Annotated[int, typer.Option("--replicas", "-r", help="-1: the broker's default.")] = -1,
    config: ConfigOption = [],  # noqa: B006 (typer copies it)
    bootstrap: Bootstrap = BOOTSTRAP_DEFAULT,
) -> None:
    """Make a topic."""
    configs = pairs(config, "--config")
    with connected(bootstrap) as client:
        client.create_topic(name, partitions, replicas, configs)
        made = client.topic(name)
        count = len(made.partitions)
        print(f"Created topic {name} with {count} partition{'s' if count != 1 else ''}.")


@app.command("list")
def list_topics(
    internal: Annotated[bool, typer.Option("--internal", help="Also the broker's own topics.")] = False,
    json: Json = False,
    bootstrap: Bootstrap = BOOTSTRAP_DEFAULT,
) -> None:
    """Name all topics."""
    with connected(bootstrap) as client:
        topics = [topic for topic in client.refresh(None).topics.values() if internal or not topic.internal]
        topics.sort(key=lambda topic: topic.name)
        if json:
            print_json([short(topic) for topic in topics])
        elif topics:
            print_table(
                ("TOPIC", "PARTITIONS", "REPLICAS"),
                [(topic.name, len(topic.partitions), replica_count(topic)) for topic in topics],
            )
        else:
            print("There are no topics yet: `twinlog topic create NAME` makes one.")


@app.command()
def describe(
    name: Name,
    configs: Annotated[bool, typer.Option("--configs", help="Also every config with its source.")] = False,
    json: Json = False,
    bootstrap: Bootstrap = BOOTSTRAP_DEFAULT,
) -> None:
    """Show partitions, offsets and configs of a topic."""
    with connected(bootstrap) as client:
        told = description(client, name, configs)
        if json:
            print_json(told)
            return
        print(f"{told['topic']}  id {told['id']}")
        print_table(
            ("PARTITION", "LEADER", "EPOCH", "REPLICAS", "IN SYNC", "START", "END"),
            [
                (
                    each["partition"],
                    each["leader"],
                    each["epoch"],
                    ",".join(map(str, each["replicas"])),
                    ",".join(map(str, each["in_sync"])),
                    each["start"],
                    each["end"],
                )
                for each in told["partitions"]
            ],
        )
        if told["configs"]:
            print()
            print_table(
                ("CONFIG", "VALUE", "SOURCE"),
                [
                    (each["name"], "(secret)" if each["value"] is None else each["value"], each["source"])
                    for each in told["configs"]
                ],
            )


@app.command()
def alter(
    name: Name,
    partitions: Annotated[
        int | None, typer.Option("--partitions", "-p", help="The new number of partitions.", min=1)
    ] = None,
    config: ConfigOption = [],  # noqa: B006
    unset: Annotated[list[str], typer.Option("--unset", metavar="NAME", help="Back to the default.")] = [],  # noqa: B006
    bootstrap: Bootstrap = BOOTSTRAP_DEFAULT,
) -> None:
    """Add partitions, change configs."""
    put = pairs(config, "--config")
    if not partitions and not put and not unset:
        fail("nothing to change", "Give --partitions, --config NAME=VALUE or --unset NAME.", code=2)
    with connected(bootstrap) as client:
        if put or unset:
            client.alter_topic_configs(name, put, unset)
        if partitions:
            client.grow_topic(name, partitions)
        print(f"Changed topic {name}.")


@app.command()
def delete(
    names: Annotated[list[str], typer.Argument(help="The topics.", show_default=False)],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    bootstrap: Bootstrap = BOOTSTRAP_DEFAULT,
) -> None:
    """Delete topics with all their records."""
    listed = ", ".join(names)
    if not yes and not typer.confirm(f"Delete {listed} with all records?"):
        fail("nothing was deleted")
    with connected(bootstrap) as client:
        client.delete_topics(names)
        print(f"Deleted {listed}.")


def description(client: Client, name: str, with_all_configs: bool) -> dict[str, Any]:
    topic = client.topic(name)
    indexes = [partition.index for partition in topic.partitions]
    starts = client.offsets(name, indexes, EARLIEST)
    ends = client.offsets(name, indexes, LATEST)
    configs = client.topic_configs(name)
    return {
        **short(topic),
        "partitions": [
            {
                "partition": each.index,
                "leader": each.leader,
                "epoch": each.leader_epoch,
                "replicas": list(each.replicas),
                "in_sync": list(each.in_sync),
                "start": starts[each.index],
                "end": ends[each.index],
            }
            for each in topic.partitions
        ],
        "configs": [
            {"name": each.name, "value": each.value, "source": each.source}
            for each in configs
            if with_all_configs or each.source == "topic"
        ],
    }


def short(topic: TopicView) -> dict[str, Any]:
    return {
        "topic": topic.name,
        "id": str(uuid.UUID(bytes=topic.topic_id)),
        "internal": topic.internal,
        "partition_count": len(topic.partitions),
        "replica_count": replica_count(topic),
    }


def replica_count(topic: TopicView) -> int:
    return max((len(each.replicas) for each in topic.partitions), default=0)
