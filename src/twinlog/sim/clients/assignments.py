"""What classic consumers say to one another through the coordinator: subscriptions, and the shares a leader deals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from twinlog.sim.stage.history import Place
from twinlog.wire.kafka.messages.consumer_protocol import (
    ConsumerProtocolAssignment,
    ConsumerProtocolAssignmentTopicPartition,
    ConsumerProtocolSubscription,
    ConsumerProtocolSubscriptionTopicPartition,
)
from twinlog.wire.kafka.records import decode_assignment, decode_subscription, encode_embedded

VERSION_EAGER = 0
VERSION_OWNED = 2  # carries what a member owns, and since which generation


def by_topic(places: Iterable[Place]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for topic, partition in places:
        found.setdefault(topic, []).append(partition)
    return found


def subscription(topics: list[str], owned: Iterable[Place] | None, generation: int) -> bytes:
    """``owned``: None for a member that gives everything up before it joins again."""
    if owned is None:
        return encode_embedded(ConsumerProtocolSubscription(topics=topics), VERSION_EAGER)
    held = [
        ConsumerProtocolSubscriptionTopicPartition(topic=topic, partitions=partitions)
        for topic, partitions in by_topic(owned).items()
    ]
    said = ConsumerProtocolSubscription(topics=topics, owned_partitions=held, generation_id=generation)
    return encode_embedded(said, VERSION_OWNED)


def write_places(places: Iterable[Place], number: int) -> bytes:
    """The number makes each assignment one of its own."""
    given = [
        ConsumerProtocolAssignmentTopicPartition(topic=topic, partitions=partitions)
        for topic, partitions in by_topic(places).items()
    ]
    return encode_embedded(ConsumerProtocolAssignment(assigned_partitions=given, user_data=b"%d" % number), 0)


def read_places(assignment: bytes) -> list[Place]:
    if not assignment:
        return []
    read = decode_assignment(assignment)
    return [(topic.topic, partition) for topic in read.assigned_partitions for partition in topic.partitions]


def deal(members: Mapping[str, bytes], places: Sequence[Place]) -> dict[str, list[Place]]:
    """Each member's share, by what the members said. Who owns something keeps it as far as its share goes; what
    another one is to get is given to nobody in this round: its owner has to give it up first."""
    owners = _owners(members)
    shares: dict[str, list[Place]] = {member: [] for member in sorted(members)}
    room = {member: len(places) // len(shares) for member in shares}
    for member in list(shares)[: len(places) % len(shares)]:
        room[member] += 1
    moving = []
    for place in places:
        owner = owners.get(place)
        if owner is not None and len(shares[owner]) < room[owner]:
            shares[owner].append(place)
        else:
            moving.append(place)
    for place in moving:
        member = next(each for each in shares if len(shares[each]) < room[each])
        if place in owners:
            room[member] -= 1  # in the next round
        else:
            shares[member].append(place)
    return shares


def _owners(members: Mapping[str, bytes]) -> dict[Place, str]:
    """Who says to own a place since the newest generation; nobody where two do."""
    claims: dict[Place, list[tuple[int, str]]] = {}
    for member in sorted(members):
        said = decode_subscription(members[member])
        for topic in said.owned_partitions:
            for partition in topic.partitions:
                claims.setdefault((topic.topic, partition), []).append((said.generation_id, member))
    owners = {}
    for place, claimed in claims.items():
        newest = max(generation for generation, _ in claimed)
        holders = [member for generation, member in claimed if generation == newest]
        if len(holders) == 1:
            owners[place] = holders[0]
    return owners
