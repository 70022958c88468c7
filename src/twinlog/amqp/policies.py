"""Policies: which one a queue or exchange obeys, and what its arguments and the policies add up to.

Of the policies of a vhost that fit, the one with the highest priority counts, and of the operators' policies
likewise. Numeric limits: the smallest wins. Elsewhere what was declared beats the policy, except for streams, where the
policy does; an operator's word beats both.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from twinlog.amqp.arguments import MILLISECONDS_MAX, between, is_age, is_int, is_text, one_of
from twinlog.amqp.codes import PRECONDITION_FAILED, refuse
from twinlog.amqp.ports import CLASSIC, QUORUM, STREAM
from twinlog.cluster.kinds.policies import PolicyPut

QUEUES: Final = "queues"
EXCHANGES: Final = "exchanges"
EVERYTHING: Final = "all"
APPLY_TO: Final = (EVERYTHING, EXCHANGES, QUEUES, "classic_queues", "quorum_queues", "streams")
OF_TYPE: Final[Mapping[str, str]] = {CLASSIC: "classic_queues", QUORUM: "quorum_queues", STREAM: "streams"}

# Keys of policies, with the argument each stands for and what a value must be.
LIMITS: Final[Mapping[str, Callable[[Any], bool]]] = {
    "expires": between(1, MILLISECONDS_MAX),
    "message-ttl": between(0, MILLISECONDS_MAX),
    "max-length": between(0, 2**63 - 1),
    "max-length-bytes": between(0, 2**63 - 1),
    "delivery-limit": is_int,
}
OTHERS: Final[Mapping[str, Callable[[Any], bool]]] = {
    "dead-letter-exchange": is_text,
    "dead-letter-routing-key": is_text,
    "overflow": one_of("drop-head", "reject-publish", "reject-publish-dlx"),
    "max-age": is_age,
    "stream-max-segment-size-bytes": between(1, 2**63 - 1),
    "queue-leader-locator": is_text,
    "dead-letter-strategy": one_of("at-most-once", "at-least-once"),
    "alternate-exchange": is_text,
    "consumer-timeout": is_int,
}
# They are about how RabbitMQ places and keeps things; files of definitions hold them, and they change nothing here.
IGNORED: Final = frozenset(
    (
        "queue-mode",
        "queue-version",
        "queue-master-locator",
        "ha-mode",
        "ha-params",
        "ha-sync-mode",
        "ha-sync-batch-size",
        "ha-promote-on-shutdown",
        "ha-promote-on-failure",
        "federation-upstream",
        "federation-upstream-set",
        "target-group-size",
        "initial-cluster-size",
        "max-in-memory-length",
        "max-in-memory-bytes",
    )
)
OPERATOR_KEYS: Final = frozenset((*LIMITS, "overflow", *IGNORED))
PATTERN_MAX: Final = 4096


def check_policy(policy: PolicyPut) -> None:
    """``Refused`` 406 for a policy that cannot be."""
    if not policy.name:
        refuse(PRECONDITION_FAILED, "a policy needs a name")
    if policy.apply_to not in APPLY_TO:
        refuse(PRECONDITION_FAILED, f"apply-to must be one of {', '.join(APPLY_TO)}; it is '{policy.apply_to}'")
    check_pattern(policy.pattern)
    if not policy.definition:
        refuse(PRECONDITION_FAILED, "a policy needs a definition that is not empty")
    for key, value in policy.definition.items():
        if policy.operator and key not in OPERATOR_KEYS:
            refuse(PRECONDITION_FAILED, f"'{key}' cannot be in an operator policy")
        if key in IGNORED:
            continue
        fits = LIMITS.get(key) or OTHERS.get(key)
        if fits is None:
            refuse(PRECONDITION_FAILED, f"'{key}' is not known in policies")
        if not fits(value):
            refuse(PRECONDITION_FAILED, f"'{key}' of a policy cannot be {value!r}")


def check_pattern(pattern: str) -> None:
    """``Refused`` 406 unless it is a regular expression that we would run."""
    if len(pattern) > PATTERN_MAX:
        refuse(PRECONDITION_FAILED, f"a pattern may have {PATTERN_MAX} characters")
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        refuse(PRECONDITION_FAILED, f"'{pattern}' is no regular expression: {error}")


@lru_cache(maxsize=4096)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def matches(pattern: str, name: str) -> bool:
    """Somewhere in the name, as everywhere in RabbitMQ; ``^`` and ``$`` say otherwise."""
    return _compiled(pattern).search(name) is not None


def policy_of(policies: Iterable[PolicyPut], name: str, kinds: tuple[str, ...]) -> PolicyPut | None:
    """The policy that counts: the highest priority, and the first by name where that is equal."""
    fitting = [policy for policy in policies if policy.apply_to in kinds and matches(policy.pattern, name)]
    return min(fitting, key=lambda policy: (-policy.priority, policy.name), default=None)


def policies_of_queue(
    policies: Sequence[PolicyPut], name: str, queue_type: str
) -> tuple[PolicyPut | None, PolicyPut | None]:
    """The user's policy and the operator's that a queue obeys, of those of its vhost."""
    kinds = queue_kinds(queue_type)
    return (
        policy_of((each for each in policies if not each.operator), name, kinds),
        policy_of((each for each in policies if each.operator), name, kinds),
    )


def queue_kinds(queue_type: str) -> tuple[str, ...]:
    """Streams are topics of Kafka's clients, too, and a limit drops records: they obey only what is said of streams."""
    return (OF_TYPE[STREAM],) if queue_type == STREAM else (EVERYTHING, QUEUES, OF_TYPE[queue_type])


EXCHANGE_KINDS: Final = (EVERYTHING, EXCHANGES)


def queue_effective(
    queue_type: str, arguments: Mapping[str, Any], policy: PolicyPut | None, operator: PolicyPut | None
) -> dict[str, Any]:
    effective = dict(arguments)
    policy_wins = queue_type == STREAM
    for key, value in (policy.definition if policy else {}).items():
        name = f"x-{key}"
        if key in LIMITS and not policy_wins:
            effective[name] = _smaller(effective.get(name), value)
        elif (key in LIMITS or key in OTHERS) and (policy_wins or name not in effective):
            effective[name] = value
    for key, value in (operator.definition if operator else {}).items():
        name = f"x-{key}"
        if key in LIMITS:
            effective[name] = _smaller(effective.get(name), value)
        elif key in OTHERS:
            effective[name] = value
    return effective


def exchange_effective(arguments: Mapping[str, Any], policy: PolicyPut | None) -> dict[str, Any]:
    effective = dict(arguments)
    if policy and "alternate-exchange" in policy.definition:
        effective.setdefault("alternate-exchange", policy.definition["alternate-exchange"])
    return effective


def _smaller(declared: Any, value: Any) -> Any:
    return value if declared is None else min(declared, value)
