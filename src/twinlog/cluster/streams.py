"""Topics as streams: which names of AMQP a topic has. One place for both sides (docs/adr/0040-streams.md).

A topic with one partition is the stream queue of its name; one with more is an exchange of its name and a stream queue
for each partition. They are in the vhost ``/``, unless the topic's name is that of another vhost's stream: then it is
``vhost.VHOST.NAME``, escaped. Each topic has one place, each place one topic.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from twinlog.cluster.image import Image
from twinlog.cluster.kinds.bindings import BINDINGS, Binding, Unbound
from twinlog.cluster.kinds.topics import Topic
from twinlog.cluster.record import Record

FIRST_VHOST: Final = "/"
PREFIX: Final = "vhost."
PLAIN: Final = re.compile(r"(?!\.{1,2}$)[a-zA-Z0-9._-]+", re.ASCII)
ESCAPED_VHOST: Final = re.compile(r"(?:[a-zA-Z0-9]|-[0-9a-f]{2})+", re.ASCII)
ESCAPED_NAME: Final = re.compile(r"(?:[a-zA-Z0-9._]|-[0-9a-f]{2})+", re.ASCII)
PARTITION: Final = re.compile(r"(.+)-(0|[1-9][0-9]{0,8})")


class Place(NamedTuple):
    """Where AMQP sees a topic."""

    vhost: str
    name: str


def place_of(topic: str) -> Place:
    return _parsed(topic) or Place(FIRST_VHOST, topic)


def topic_of(vhost: str, name: str) -> str:
    """The name of the topic that this stream is; it may be longer than a topic's name can be."""
    if vhost == FIRST_VHOST and PLAIN.fullmatch(name) and _parsed(name) is None:
        return name
    return f"{PREFIX}{_escaped(vhost, '')}.{_escaped(name, '._')}"


def _parsed(topic: str) -> Place | None:
    if not topic.startswith(PREFIX):
        return None
    vhost, _, name = topic[len(PREFIX) :].partition(".")
    if not ESCAPED_VHOST.fullmatch(vhost) or not ESCAPED_NAME.fullmatch(name):
        return None
    try:
        place = Place(_unescaped(vhost), _unescaped(name))
    except UnicodeDecodeError:
        return None
    return place if topic_of(*place) == topic else None


def _escaped(text: str, kept: str) -> str:
    return "".join(
        chr(byte) if chr(byte).isascii() and (chr(byte).isalnum() or chr(byte) in kept) else f"-{byte:02x}"
        for byte in text.encode()
    )


def _unescaped(text: str) -> str:
    return re.sub(rb"-([0-9a-f]{2})", lambda found: bytes([int(found[1], 16)]), text.encode()).decode()


def queue_names(name: str, partitions: int) -> Iterator[str]:
    """Of the stream queues of a topic whose place is called ``name``."""
    if partitions == 1:
        yield name
        return
    for index in range(partitions):
        yield f"{name}-{index}"


def find_stream(image: Image, vhost: str, name: str) -> tuple[Topic, int] | None:
    """The topic and the partition that the stream queue of this name is. A topic of that very name goes first."""
    topic = image.topics_by_name.get(topic_of(vhost, name))
    if topic is not None and len(topic.partitions) == 1:
        return topic, 0
    found = PARTITION.fullmatch(name)
    if found is None:
        return None
    topic = find_super_stream(image, vhost, found[1])
    index = int(found[2])
    return (topic, index) if topic is not None and index < len(topic.partitions) else None


def find_super_stream(image: Image, vhost: str, name: str) -> Topic | None:
    """The topic of several partitions that the exchange of this name stands for."""
    topic = image.topics_by_name.get(topic_of(vhost, name))
    return topic if topic is not None and len(topic.partitions) > 1 else None


def clash_with_topics(image: Image, topic: str, partitions: int) -> str | None:
    """The other topic that has one of the queue names that this one would have."""
    vhost, name = place_of(topic)
    for queue in queue_names(name, partitions):
        found = find_stream(image, vhost, queue)
        if found is not None and found[0].name != topic:
            return found[0].name
    return None


def unbound(image: Image, topic: Topic, *, exchange: bool, queues: Iterable[str]) -> Iterator[Record]:
    """Takes away the bindings of what AMQP sees of a topic."""
    vhost, name = place_of(topic.name)
    bindings = image.part(BINDINGS)
    gone: dict[Binding, None] = {}
    if exchange:
        gone |= dict.fromkeys(bindings.leaving(vhost, name))
        gone |= dict.fromkeys(bindings.reaching(vhost, False, name))
    for queue in queues:
        gone |= dict.fromkeys(bindings.reaching(vhost, True, queue))
    for binding in gone:
        yield Unbound(*binding)
