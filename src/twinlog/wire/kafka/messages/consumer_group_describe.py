"""API 69, ConsumerGroupDescribe.

Made from spec/kafka/consumer_group_describe.txt by codegen/generate_kafka.py: change it there.
"""

from __future__ import annotations

from twinlog.wire.kafka.message import FRESH, ZERO_UUID, Message, Struct


class ConsumerGroupDescribeRequest(Message):
    __slots__ = (
        "group_ids",
        "include_authorized_operations",
    )
    KEY = 69
    VERSIONS = (0, 1)
    FLEXIBLE_FROM = 0
    LAYOUT = (
        ("group_ids", "[]string", None, 0, 1, 0, -1, -1, False, FRESH),
        ("include_authorized_operations", "bool", None, 0, 1, 0, -1, -1, False, False),
    )

    def __init__(
        self,
        *,
        group_ids: list[str] = FRESH,
        include_authorized_operations: bool = False,
    ) -> None:
        self.group_ids: list[str] = [] if group_ids is FRESH else group_ids
        self.include_authorized_operations: bool = include_authorized_operations


class ConsumerGroupDescribeResponseTopicPartitions(Struct):
    __slots__ = (
        "partitions",
        "topic_id",
        "topic_name",
    )
    LAYOUT = (
        ("topic_id", "uuid", None, 0, 1, 0, -1, -1, False, ZERO_UUID),
        ("topic_name", "string", None, 0, 1, 0, -1, -1, False, ""),
        ("partitions", "[]int32", None, 0, 1, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        topic_id: bytes = ZERO_UUID,
        topic_name: str = "",
        partitions: list[int] = FRESH,
    ) -> None:
        self.topic_id: bytes = topic_id
        self.topic_name: str = topic_name
        self.partitions: list[int] = [] if partitions is FRESH else partitions


class ConsumerGroupDescribeResponseAssignment(Struct):
    __slots__ = ("topic_partitions",)
    LAYOUT = (
        ("topic_partitions", "[]struct", ConsumerGroupDescribeResponseTopicPartitions, 0, 1, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        topic_partitions: list[ConsumerGroupDescribeResponseTopicPartitions] = FRESH,
    ) -> None:
        self.topic_partitions: list[ConsumerGroupDescribeResponseTopicPartitions] = (
            [] if topic_partitions is FRESH else topic_partitions
        )


class ConsumerGroupDescribeResponseMember(Struct):
    __slots__ = (
        "assignment",
        "client_host",
        "client_id",
        "instance_id",
        "member_epoch",
        "member_id",
        "member_type",
        "rack_id",
        "subscribed_topic_names",
        "subscribed_topic_regex",
        "target_assignment",
    )
    LAYOUT = (
        ("member_id", "string", None, 0, 1, 0, -1, -1, False, ""),
        ("instance_id", "string", None, 0, 1, 0, 1, -1, False, None),
        ("rack_id", "string", None, 0, 1, 0, 1, -1, False, None),
        ("member_epoch", "int32", None, 0, 1, 0, -1, -1, False, 0),
        ("client_id", "string", None, 0, 1, 0, -1, -1, False, ""),
        ("client_host", "string", None, 0, 1, 0, -1, -1, False, ""),
        ("subscribed_topic_names", "[]string", None, 0, 1, 0, -1, -1, False, FRESH),
        ("subscribed_topic_regex", "string", None, 0, 1, 0, 1, -1, False, None),
        ("assignment", "struct", ConsumerGroupDescribeResponseAssignment, 0, 1, 0, -1, -1, False, FRESH),
        ("target_assignment", "struct", ConsumerGroupDescribeResponseAssignment, 0, 1, 0, -1, -1, False, FRESH),
        ("member_type", "int8", None, 1, 1, 0, -1, -1, True, -1),
    )

    def __init__(
        self,
        *,
        member_id: str = "",
        instance_id: str | None = None,
        rack_id: str | None = None,
        member_epoch: int = 0,
        client_id: str = "",
        client_host: str = "",
        subscribed_topic_names: list[str] = FRESH,
        subscribed_topic_regex: str | None = None,
        assignment: ConsumerGroupDescribeResponseAssignment = FRESH,
        target_assignment: ConsumerGroupDescribeResponseAssignment = FRESH,
        member_type: int = -1,
    ) -> None:
        self.member_id: str = member_id
        self.instance_id: str | None = instance_id
        self.rack_id: str | None = rack_id
        self.member_epoch: int = member_epoch
        self.client_id: str = client_id
        self.client_host: str = client_host
        self.subscribed_topic_names: list[str] = [] if subscribed_topic_names is FRESH else subscribed_topic_names
        self.subscribed_topic_regex: str | None = subscribed_topic_regex
        self.assignment: ConsumerGroupDescribeResponseAssignment = (
            ConsumerGroupDescribeResponseAssignment() if assignment is FRESH else assignment
        )
        self.target_assignment: ConsumerGroupDescribeResponseAssignment = (
            ConsumerGroupDescribeResponseAssignment() if target_assignment is FRESH else target_assignment
        )
        self.member_type: int = member_type


class ConsumerGroupDescribeResponseDescribedGroup(Struct):
    __slots__ = (
        "assignment_epoch",
        "assignor_name",
        "authorized_operations",
        "error_code",
        "error_message",
        "group_epoch",
        "group_id",
        "group_state",
        "members",
    )
    LAYOUT = (
        ("error_code", "int16", None, 0, 1, 0, -1, -1, False, 0),
        ("error_message", "string", None, 0, 1, 0, 1, -1, False, None),
        ("group_id", "string", None, 0, 1, 0, -1, -1, False, ""),
        ("group_state", "string", None, 0, 1, 0, -1, -1, False, ""),
        ("group_epoch", "int32", None, 0, 1, 0, -1, -1, False, 0),
        ("assignment_epoch", "int32", None, 0, 1, 0, -1, -1, False, 0),
        ("assignor_name", "string", None, 0, 1, 0, -1, -1, False, ""),
        ("members", "[]struct", ConsumerGroupDescribeResponseMember, 0, 1, 0, -1, -1, False, FRESH),
        ("authorized_operations", "int32", None, 0, 1, 0, -1, -1, False, -2147483648),
    )

    def __init__(
        self,
        *,
        error_code: int = 0,
        error_message: str | None = None,
        group_id: str = "",
        group_state: str = "",
        group_epoch: int = 0,
        assignment_epoch: int = 0,
        assignor_name: str = "",
        members: list[ConsumerGroupDescribeResponseMember] = FRESH,
        authorized_operations: int = -2147483648,
    ) -> None:
        self.error_code: int = error_code
        self.error_message: str | None = error_message
        self.group_id: str = group_id
        self.group_state: str = group_state
        self.group_epoch: int = group_epoch
        self.assignment_epoch: int = assignment_epoch
        self.assignor_name: str = assignor_name
        self.members: list[ConsumerGroupDescribeResponseMember] = [] if members is FRESH else members
        self.authorized_operations: int = authorized_operations


class ConsumerGroupDescribeResponse(Message):
    __slots__ = (
        "groups",
        "throttle_time_ms",
    )
    KEY = 69
    VERSIONS = (0, 1)
    FLEXIBLE_FROM = 0
    LAYOUT = (
        ("throttle_time_ms", "int32", None, 0, 1, 0, -1, -1, False, 0),
        ("groups", "[]struct", ConsumerGroupDescribeResponseDescribedGroup, 0, 1, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        groups: list[ConsumerGroupDescribeResponseDescribedGroup] = FRESH,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.groups: list[ConsumerGroupDescribeResponseDescribedGroup] = [] if groups is FRESH else groups
