"""API 77, ShareGroupDescribe.

Made from spec/kafka/share_group_describe.txt by codegen/generate_kafka.py: change it there.
"""

from __future__ import annotations

from twinlog.wire.kafka.message import FRESH, ZERO_UUID, Message, Struct


class ShareGroupDescribeRequest(Message):
    __slots__ = (
        "group_ids",
        "include_authorized_operations",
    )
    KEY = 77
    VERSIONS = (1, 1)
    FLEXIBLE_FROM = 1
    LAYOUT = (
        ("group_ids", "[]string", None, 1, 1, 0, -1, -1, False, FRESH),
        ("include_authorized_operations", "bool", None, 1, 1, 0, -1, -1, False, False),
    )

    def __init__(
        self,
        *,
        group_ids: list[str] = FRESH,
        include_authorized_operations: bool = False,
    ) -> None:
        self.group_ids: list[str] = [] if group_ids is FRESH else group_ids
        self.include_authorized_operations: bool = include_authorized_operations


class ShareGroupDescribeResponseTopicPartitions(Struct):
    __slots__ = (
        "partitions",
        "topic_id",
        "topic_name",
    )
    LAYOUT = (
        ("topic_id", "uuid", None, 1, 1, 0, -1, -1, False, ZERO_UUID),
        ("topic_name", "string", None, 1, 1, 0, -1, -1, False, ""),
        ("partitions", "[]int32", None, 1, 1, 0, -1, -1, False, FRESH),
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


class ShareGroupDescribeResponseAssignment(Struct):
    __slots__ = ("topic_partitions",)
    LAYOUT = (
        ("topic_partitions", "[]struct", ShareGroupDescribeResponseTopicPartitions, 1, 1, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        topic_partitions: list[ShareGroupDescribeResponseTopicPartitions] = FRESH,
    ) -> None:
        self.topic_partitions: list[ShareGroupDescribeResponseTopicPartitions] = (
            [] if topic_partitions is FRESH else topic_partitions
        )


class ShareGroupDescribeResponseMember(Struct):
    __slots__ = (
        "assignment",
        "client_host",
        "client_id",
        "member_epoch",
        "member_id",
        "rack_id",
        "subscribed_topic_names",
    )
    LAYOUT = (
        ("member_id", "string", None, 1, 1, 0, -1, -1, False, ""),
        ("rack_id", "string", None, 1, 1, 1, 1, -1, False, None),
        ("member_epoch", "int32", None, 1, 1, 0, -1, -1, False, 0),
        ("client_id", "string", None, 1, 1, 0, -1, -1, False, ""),
        ("client_host", "string", None, 1, 1, 0, -1, -1, False, ""),
        ("subscribed_topic_names", "[]string", None, 1, 1, 0, -1, -1, False, FRESH),
        ("assignment", "struct", ShareGroupDescribeResponseAssignment, 1, 1, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        member_id: str = "",
        rack_id: str | None = None,
        member_epoch: int = 0,
        client_id: str = "",
        client_host: str = "",
        subscribed_topic_names: list[str] = FRESH,
        assignment: ShareGroupDescribeResponseAssignment = FRESH,
    ) -> None:
        self.member_id: str = member_id
        self.rack_id: str | None = rack_id
        self.member_epoch: int = member_epoch
        self.client_id: str = client_id
        self.client_host: str = client_host
        self.subscribed_topic_names: list[str] = [] if subscribed_topic_names is FRESH else subscribed_topic_names
        self.assignment: ShareGroupDescribeResponseAssignment = (
            ShareGroupDescribeResponseAssignment() if assignment is FRESH else assignment
        )


class ShareGroupDescribeResponseDescribedGroup(Struct):
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
        ("error_code", "int16", None, 1, 1, 0, -1, -1, False, 0),
        ("error_message", "string", None, 1, 1, 1, 1, -1, False, None),
        ("group_id", "string", None, 1, 1, 0, -1, -1, False, ""),
        ("group_state", "string", None, 1, 1, 0, -1, -1, False, ""),
        ("group_epoch", "int32", None, 1, 1, 0, -1, -1, False, 0),
        ("assignment_epoch", "int32", None, 1, 1, 0, -1, -1, False, 0),
        ("assignor_name", "string", None, 1, 1, 0, -1, -1, False, ""),
        ("members", "[]struct", ShareGroupDescribeResponseMember, 1, 1, 0, -1, -1, False, FRESH),
        ("authorized_operations", "int32", None, 1, 1, 0, -1, -1, False, -2147483648),
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
        members: list[ShareGroupDescribeResponseMember] = FRESH,
        authorized_operations: int = -2147483648,
    ) -> None:
        self.error_code: int = error_code
        self.error_message: str | None = error_message
        self.group_id: str = group_id
        self.group_state: str = group_state
        self.group_epoch: int = group_epoch
        self.assignment_epoch: int = assignment_epoch
        self.assignor_name: str = assignor_name
        self.members: list[ShareGroupDescribeResponseMember] = [] if members is FRESH else members
        self.authorized_operations: int = authorized_operations


class ShareGroupDescribeResponse(Message):
    __slots__ = (
        "groups",
        "throttle_time_ms",
    )
    KEY = 77
    VERSIONS = (1, 1)
    FLEXIBLE_FROM = 1
    LAYOUT = (
        ("throttle_time_ms", "int32", None, 1, 1, 0, -1, -1, False, 0),
        ("groups", "[]struct", ShareGroupDescribeResponseDescribedGroup, 1, 1, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        groups: list[ShareGroupDescribeResponseDescribedGroup] = FRESH,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.groups: list[ShareGroupDescribeResponseDescribedGroup] = [] if groups is FRESH else groups
