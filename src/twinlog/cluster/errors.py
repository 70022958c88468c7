"""Why the controller declines. The numbers are Kafka's error codes, which every client library knows;
other protocols map them to words of their own."""

from __future__ import annotations

from enum import IntEnum


class Reason(IntEnum):
    UNKNOWN_TOPIC_OR_PARTITION = 3
    INVALID_TOPIC_EXCEPTION = 17
    TOPIC_ALREADY_EXISTS = 36
    INVALID_PARTITIONS = 37
    INVALID_REPLICATION_FACTOR = 38
    INVALID_REPLICA_ASSIGNMENT = 39
    INVALID_CONFIG = 40
    INVALID_REQUEST = 42
    POLICY_VIOLATION = 44
    KAFKA_STORAGE_ERROR = 56
    DUPLICATE_BROKER_REGISTRATION = 101
    UNKNOWN_TOPIC_ID = 100
    INVALID_UPDATE_VERSION = 95
