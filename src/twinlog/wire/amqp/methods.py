"""Every AMQP method as a class.

Made from spec/amqp/methods.txt by codegen/generate_amqp.py: change it there.
"""

from __future__ import annotations

from twinlog.wire.amqp.method import NO_TABLE, Method, Table


class ConnectionStart(Method):
    __slots__ = ("locales", "mechanisms", "server_properties", "version_major", "version_minor")
    CLASS_ID = 10
    METHOD_ID = 10
    IS_SYNC = True
    ARGUMENTS = (
        ("version_major", "octet"),
        ("version_minor", "octet"),
        ("server_properties", "table"),
        ("mechanisms", "longstr"),
        ("locales", "longstr"),
    )

    def __init__(
        self,
        *,
        version_major: int = 0,
        version_minor: int = 0,
        server_properties: Table = NO_TABLE,
        mechanisms: bytes = b"",
        locales: bytes = b"",
    ) -> None:
        self.version_major = version_major
        self.version_minor = version_minor
        self.server_properties = server_properties
        self.mechanisms = mechanisms
        self.locales = locales


class ConnectionStartOk(Method):
    __slots__ = ("client_properties", "locale", "mechanism", "response")
    CLASS_ID = 10
    METHOD_ID = 11
    IS_SYNC = False
    ARGUMENTS = (
        ("client_properties", "table"),
        ("mechanism", "shortstr"),
        ("response", "longstr"),
        ("locale", "shortstr"),
    )

    def __init__(
        self,
        *,
        client_properties: Table = NO_TABLE,
        mechanism: str = "",
        response: bytes = b"",
        locale: str = "",
    ) -> None:
        self.client_properties = client_properties
        self.mechanism = mechanism
        self.response = response
        self.locale = locale


class ConnectionSecure(Method):
    __slots__ = ("challenge",)
    CLASS_ID = 10
    METHOD_ID = 20
    IS_SYNC = True
    ARGUMENTS = (("challenge", "longstr"),)

    def __init__(
        self,
        *,
        challenge: bytes = b"",
    ) -> None:
        self.challenge = challenge


class ConnectionSecureOk(Method):
    __slots__ = ("response",)
    CLASS_ID = 10
    METHOD_ID = 21
    IS_SYNC = False
    ARGUMENTS = (("response", "longstr"),)

    def __init__(
        self,
        *,
        response: bytes = b"",
    ) -> None:
        self.response = response


class ConnectionTune(Method):
    __slots__ = ("channel_max", "frame_max", "heartbeat")
    CLASS_ID = 10
    METHOD_ID = 30
    IS_SYNC = True
    ARGUMENTS = (
        ("channel_max", "short"),
        ("frame_max", "long"),
        ("heartbeat", "short"),
    )

    def __init__(
        self,
        *,
        channel_max: int = 0,
        frame_max: int = 0,
        heartbeat: int = 0,
    ) -> None:
        self.channel_max = channel_max
        self.frame_max = frame_max
        self.heartbeat = heartbeat


class ConnectionTuneOk(Method):
    __slots__ = ("channel_max", "frame_max", "heartbeat")
    CLASS_ID = 10
    METHOD_ID = 31
    IS_SYNC = False
    ARGUMENTS = (
        ("channel_max", "short"),
        ("frame_max", "long"),
        ("heartbeat", "short"),
    )

    def __init__(
        self,
        *,
        channel_max: int = 0,
        frame_max: int = 0,
        heartbeat: int = 0,
    ) -> None:
        self.channel_max = channel_max
        self.frame_max = frame_max
        self.heartbeat = heartbeat


class ConnectionOpen(Method):
    __slots__ = ("virtual_host",)
    CLASS_ID = 10
    METHOD_ID = 40
    IS_SYNC = True
    ARGUMENTS = (
        ("virtual_host", "shortstr"),
        ("reserved", "shortstr"),
        ("reserved", "bit"),
    )

    def __init__(
        self,
        *,
        virtual_host: str = "",
    ) -> None:
        self.virtual_host = virtual_host


class ConnectionOpenOk(Method):
    __slots__ = ()
    CLASS_ID = 10
    METHOD_ID = 41
    IS_SYNC = False
    ARGUMENTS = (("reserved", "shortstr"),)


class ConnectionClose(Method):
    __slots__ = ("failing_class", "failing_method", "reply_code", "reply_text")
    CLASS_ID = 10
    METHOD_ID = 50
    IS_SYNC = True
    ARGUMENTS = (
        ("reply_code", "short"),
        ("reply_text", "shortstr"),
        ("failing_class", "short"),
        ("failing_method", "short"),
    )

    def __init__(
        self,
        *,
        reply_code: int = 0,
        reply_text: str = "",
        failing_class: int = 0,
        failing_method: int = 0,
    ) -> None:
        self.reply_code = reply_code
        self.reply_text = reply_text
        self.failing_class = failing_class
        self.failing_method = failing_method


class ConnectionCloseOk(Method):
    __slots__ = ()
    CLASS_ID = 10
    METHOD_ID = 51
    IS_SYNC = False
    ARGUMENTS = ()


class ConnectionBlocked(Method):
    __slots__ = ("reason",)
    CLASS_ID = 10
    METHOD_ID = 60
    IS_SYNC = False
    ARGUMENTS = (("reason", "shortstr"),)

    def __init__(
        self,
        *,
        reason: str = "",
    ) -> None:
        self.reason = reason


class ConnectionUnblocked(Method):
    __slots__ = ()
    CLASS_ID = 10
    METHOD_ID = 61
    IS_SYNC = False
    ARGUMENTS = ()


class ConnectionUpdateSecret(Method):
    __slots__ = ("new_secret", "reason")
    CLASS_ID = 10
    METHOD_ID = 70
    IS_SYNC = True
    ARGUMENTS = (
        ("new_secret", "longstr"),
        ("reason", "shortstr"),
    )

    def __init__(
        self,
        *,
        new_secret: bytes = b"",
        reason: str = "",
    ) -> None:
        self.new_secret = new_secret
        self.reason = reason


class ConnectionUpdateSecretOk(Method):
    __slots__ = ()
    CLASS_ID = 10
    METHOD_ID = 71
    IS_SYNC = False
    ARGUMENTS = ()


class ChannelOpen(Method):
    __slots__ = ()
    CLASS_ID = 20
    METHOD_ID = 10
    IS_SYNC = True
    ARGUMENTS = (("reserved", "shortstr"),)


class ChannelOpenOk(Method):
    __slots__ = ()
    CLASS_ID = 20
    METHOD_ID = 11
    IS_SYNC = False
    ARGUMENTS = (("reserved", "longstr"),)


class ChannelFlow(Method):
    __slots__ = ("active",)
    CLASS_ID = 20
    METHOD_ID = 20
    IS_SYNC = True
    ARGUMENTS = (("active", "bit"),)

    def __init__(
        self,
        *,
        active: bool = False,
    ) -> None:
        self.active = active


class ChannelFlowOk(Method):
    __slots__ = ("active",)
    CLASS_ID = 20
    METHOD_ID = 21
    IS_SYNC = False
    ARGUMENTS = (("active", "bit"),)

    def __init__(
        self,
        *,
        active: bool = False,
    ) -> None:
        self.active = active


class ChannelClose(Method):
    __slots__ = ("failing_class", "failing_method", "reply_code", "reply_text")
    CLASS_ID = 20
    METHOD_ID = 40
    IS_SYNC = True
    ARGUMENTS = (
        ("reply_code", "short"),
        ("reply_text", "shortstr"),
        ("failing_class", "short"),
        ("failing_method", "short"),
    )

    def __init__(
        self,
        *,
        reply_code: int = 0,
        reply_text: str = "",
        failing_class: int = 0,
        failing_method: int = 0,
    ) -> None:
        self.reply_code = reply_code
        self.reply_text = reply_text
        self.failing_class = failing_class
        self.failing_method = failing_method


class ChannelCloseOk(Method):
    __slots__ = ()
    CLASS_ID = 20
    METHOD_ID = 41
    IS_SYNC = False
    ARGUMENTS = ()


class AccessRequest(Method):
    __slots__ = ("active", "exclusive", "passive", "read", "realm", "write")
    CLASS_ID = 30
    METHOD_ID = 10
    IS_SYNC = True
    ARGUMENTS = (
        ("realm", "shortstr"),
        ("exclusive", "bit"),
        ("passive", "bit"),
        ("active", "bit"),
        ("write", "bit"),
        ("read", "bit"),
    )

    def __init__(
        self,
        *,
        realm: str = "",
        exclusive: bool = False,
        passive: bool = False,
        active: bool = False,
        write: bool = False,
        read: bool = False,
    ) -> None:
        self.realm = realm
        self.exclusive = exclusive
        self.passive = passive
        self.active = active
        self.write = write
        self.read = read


class AccessRequestOk(Method):
    __slots__ = ("ticket",)
    CLASS_ID = 30
    METHOD_ID = 11
    IS_SYNC = False
    ARGUMENTS = (("ticket", "short"),)

    def __init__(
        self,
        *,
        ticket: int = 0,
    ) -> None:
        self.ticket = ticket


class ExchangeDeclare(Method):
    __slots__ = ("arguments", "auto_delete", "durable", "exchange", "internal", "no_wait", "passive", "type")
    CLASS_ID = 40
    METHOD_ID = 10
    IS_SYNC = True
    ARGUMENTS = (
        ("reserved", "short"),
        ("exchange", "shortstr"),
        ("type", "shortstr"),
        ("passive", "bit"),
        ("durable", "bit"),
        ("auto_delete", "bit"),
        ("internal", "bit"),
        ("no_wait", "bit"),
        ("arguments", "table"),
    )

    def __init__(
        self,
        *,
        exchange: str = "",
        type: str = "",
        passive: bool = False,
        durable: bool = False,
        auto_delete: bool = False,
        internal: bool = False,
        no_wait: bool = False,
        arguments: Table = NO_TABLE,
    ) -> None:
        self.exchange = exchange
        self.type = type
        self.passive = passive
        self.durable = durable
        self.auto_delete = auto_delete
        self.internal = internal
        self.no_wait = no_wait
        self.arguments = arguments


class ExchangeDeclareOk(Method):
    __slots__ = ()
    CLASS_ID = 40
    METHOD_ID = 11
    IS_SYNC = False
    ARGUMENTS = ()


class ExchangeDelete(Method):
    __slots__ = ("exchange", "if_unused", "no_wait")
    CLASS_ID = 40
    METHOD_ID = 20
    IS_SYNC = True
    ARGUMENTS = (
        ("reserved", "short"),
        ("exchange", "shortstr"),
        ("if_unused", "bit"),
        ("no_wait", "bit"),
    )

    def __init__(
        self,
        *,
        exchange: str = "",
        if_unused: bool = False,
        no_wait: bool = False,
    ) -> None:
        self.exchange = exchange
        self.if_unused = if_unused
        self.no_wait = no_wait


class ExchangeDeleteOk(Method):
    __slots__ = ()
    CLASS_ID = 40
    METHOD_ID = 21
    IS_SYNC = False
    ARGUMENTS = ()


class ExchangeBind(Method):
    __slots__ = ("arguments", "destination", "no_wait", "routing_key", "source")
    CLASS_ID = 40
    METHOD_ID = 30
    IS_SYNC = True
    ARGUMENTS = (
        ("reserved", "short"),
        ("destination", "shortstr"),
        ("source", "shortstr"),
        ("routing_key", "shortstr"),
        ("no_wait", "bit"),
        ("arguments", "table"),
    )

    def __init__(
        self,
        *,
        destination: str = "",
        source: str = "",
        routing_key: str = "",
        no_wait: bool = False,
        arguments: Table = NO_TABLE,
    ) -> None:
        self.destination = destination
        self.source = source
        self.routing_key = routing_key
        self.no_wait = no_wait
        self.arguments = arguments


class ExchangeBindOk(Method):
    __slots__ = ()
    CLASS_ID = 40
    METHOD_ID = 31
    IS_SYNC = False
    ARGUMENTS = ()


class ExchangeUnbind(Method):
    __slots__ = ("arguments", "destination", "no_wait", "routing_key", "source")
    CLASS_ID = 40
    METHOD_ID = 40
    IS_SYNC = True
    ARGUMENTS = (
        ("reserved", "short"),
        ("destination", "shortstr"),
        ("source", "shortstr"),
        ("routing_key", "shortstr"),
        ("no_wait", "bit"),
        ("arguments", "table"),
    )

    def __init__(
        self,
        *,
        destination: str = "",
        source: str = "",
        routing_key: str = "",
        no_wait: bool = False,
        arguments: Table = NO_TABLE,
    ) -> None:
        self.destination = destination
        self.source = source
        self.routing_key = routing_key
        self.no_wait = no_wait
        self.arguments = arguments


class ExchangeUnbindOk(Method):
    __slots__ = ()
    CLASS_ID = 40
    METHOD_ID = 51
    IS_SYNC = False
    ARGUMENTS = ()


class QueueDeclare(Method):
    __slots__ = ("arguments", "auto_delete", "durable", "exclusive", "no_wait", "passive", "queue")
    CLASS_ID = 50
    METHOD_ID = 10
    IS_SYNC = True
    ARGUMENTS = (
        ("reserved", "short"),
        ("queue", "shortstr"),
        ("passive", "bit"),
        ("durable", "bit"),
        ("exclusive", "bit"),
        ("auto_delete", "bit"),
        ("no_wait", "bit"),
        ("arguments", "table"),
    )

    def __init__(
        self,
        *,
        queue: str = "",
        passive: bool = False,
        durable: bool = False,
        exclusive: bool = False,
        auto_delete: bool = False,
        no_wait: bool = False,
        arguments: Table = NO_TABLE,
    ) -> None:
        self.queue = queue
        self.passive = passive
        self.durable = durable
        self.exclusive = exclusive
        self.auto_delete = auto_delete
        self.no_wait = no_wait
        self.arguments = arguments


class QueueDeclareOk(Method):
    __slots__ = ("consumer_count", "message_count", "queue")
    CLASS_ID = 50
    METHOD_ID = 11
    IS_SYNC = False
    ARGUMENTS = (
        ("queue", "shortstr"),
        ("message_count", "long"),
        ("consumer_count", "long"),
    )

    def __init__(
        self,
        *,
        queue: str = "",
        message_count: int = 0,
        consumer_count: int = 0,
    ) -> None:
        self.queue = queue
        self.message_count = message_count
        self.consumer_count = consumer_count


class QueueBind(Method):
    __slots__ = ("arguments", "exchange", "no_wait", "queue", "routing_key")
    CLASS_ID = 50
    METHOD_ID = 20
    IS_SYNC = True
    ARGUMENTS = (
        ("reserved", "short"),
        ("queue", "shortstr"),
        ("exchange", "shortstr"),
        ("routing_key", "shortstr"),
        ("no_wait", "bit"),
        ("arguments", "table"),
    )

    def __init__(
        self,
        *,
        queue: str = "",
        exchange: str = "",
        routing_key: str = "",
        no_wait: bool = False,
        arguments: Table = NO_TABLE,
    ) -> None:
        self.queue = queue
        self.exchange = exchange
        self.routing_key = routing_key
        self.no_wait = no_wait
        self.arguments = arguments


class QueueBindOk(Method):
    __slots__ = ()
    CLASS_ID = 50
    METHOD_ID = 21
    IS_SYNC = False
    ARGUMENTS = ()


class QueuePurge(Method):
    __slots__ = ("no_wait", "queue")
    CLASS_ID = 50
    METHOD_ID = 30
    IS_SYNC = True
    ARGUMENTS = (
        ("reserved", "short"),
        ("queue", "shortstr"),
        ("no_wait", "bit"),
    )

    def __init__(
        self,
        *,
        queue: str = "",
        no_wait: bool = False,
    ) -> None:
        self.queue = queue
        self.no_wait = no_wait


class QueuePurgeOk(Method):
    __slots__ = ("message_count",)
    CLASS_ID = 50
    METHOD_ID = 31
    IS_SYNC = False
    ARGUMENTS = (("message_count", "long"),)

    def __init__(
        self,
        *,
        message_count: int = 0,
    ) -> None:
        self.message_count = message_count


class QueueDelete(Method):
    __slots__ = ("if_empty", "if_unused", "no_wait", "queue")
    CLASS_ID = 50
    METHOD_ID = 40
    IS_SYNC = True
    ARGUMENTS = (
        ("reserved", "short"),
        ("queue", "shortstr"),
        ("if_unused", "bit"),
        ("if_empty", "bit"),
        ("no_wait", "bit"),
    )

    def __init__(
        self,
        *,
        queue: str = "",
        if_unused: bool = False,
        if_empty: bool = False,
        no_wait: bool = False,
    ) -> None:
        self.queue = queue
        self.if_unused = if_unused
        self.if_empty = if_empty
        self.no_wait = no_wait


class QueueDeleteOk(Method):
    __slots__ = ("message_count",)
    CLASS_ID = 50
    METHOD_ID = 41
    IS_SYNC = False
    ARGUMENTS = (("message_count", "long"),)

    def __init__(
        self,
        *,
        message_count: int = 0,
    ) -> None:
        self.message_count = message_count


class QueueUnbind(Method):
    __slots__ = ("arguments", "exchange", "queue", "routing_key")
    CLASS_ID = 50
    METHOD_ID = 50
    IS_SYNC = True
    ARGUMENTS = (
        ("reserved", "short"),
        ("queue", "shortstr"),
        ("exchange", "shortstr"),
        ("routing_key", "shortstr"),
        ("arguments", "table"),
    )

    def __init__(
        self,
        *,
        queue: str = "",
        exchange: str = "",
        routing_key: str = "",
        arguments: Table = NO_TABLE,
    ) -> None:
        self.queue = queue
        self.exchange = exchange
        self.routing_key = routing_key
        self.arguments = arguments


class QueueUnbindOk(Method):
    __slots__ = ()
    CLASS_ID = 50
    METHOD_ID = 51
    IS_SYNC = False
    ARGUMENTS = ()


class BasicQos(Method):
    __slots__ = ("is_global", "prefetch_count", "prefetch_size")
    CLASS_ID = 60
    METHOD_ID = 10
    IS_SYNC = True
    ARGUMENTS = (
        ("prefetch_size", "long"),
        ("prefetch_count", "short"),
        ("is_global", "bit"),
    )

    def __init__(
        self,
        *,
        prefetch_size: int = 0,
        prefetch_count: int = 0,
        is_global: bool = False,
    ) -> None:
        self.prefetch_size = prefetch_size
        self.prefetch_count = prefetch_count
        self.is_global = is_global


class BasicQosOk(Method):
    __slots__ = ()
    CLASS_ID = 60
    METHOD_ID = 11
    IS_SYNC = False
    ARGUMENTS = ()


class BasicConsume(Method):
    __slots__ = ("arguments", "consumer_tag", "exclusive", "no_ack", "no_local", "no_wait", "queue")
    CLASS_ID = 60
    METHOD_ID = 20
    IS_SYNC = True
    ARGUMENTS = (
        ("reserved", "short"),
        ("queue", "shortstr"),
        ("consumer_tag", "shortstr"),
        ("no_local", "bit"),
        ("no_ack", "bit"),
        ("exclusive", "bit"),
        ("no_wait", "bit"),
        ("arguments", "table"),
    )

    def __init__(
        self,
        *,
        queue: str = "",
        consumer_tag: str = "",
        no_local: bool = False,
        no_ack: bool = False,
        exclusive: bool = False,
        no_wait: bool = False,
        arguments: Table = NO_TABLE,
    ) -> None:
        self.queue = queue
        self.consumer_tag = consumer_tag
        self.no_local = no_local
        self.no_ack = no_ack
        self.exclusive = exclusive
        self.no_wait = no_wait
        self.arguments = arguments


class BasicConsumeOk(Method):
    __slots__ = ("consumer_tag",)
    CLASS_ID = 60
    METHOD_ID = 21
    IS_SYNC = False
    ARGUMENTS = (("consumer_tag", "shortstr"),)

    def __init__(
        self,
        *,
        consumer_tag: str = "",
    ) -> None:
        self.consumer_tag = consumer_tag


class BasicCancel(Method):
    __slots__ = ("consumer_tag", "no_wait")
    CLASS_ID = 60
    METHOD_ID = 30
    IS_SYNC = True
    ARGUMENTS = (
        ("consumer_tag", "shortstr"),
        ("no_wait", "bit"),
    )

    def __init__(
        self,
        *,
        consumer_tag: str = "",
        no_wait: bool = False,
    ) -> None:
        self.consumer_tag = consumer_tag
        self.no_wait = no_wait


class BasicCancelOk(Method):
    __slots__ = ("consumer_tag",)
    CLASS_ID = 60
    METHOD_ID = 31
    IS_SYNC = False
    ARGUMENTS = (("consumer_tag", "shortstr"),)

    def __init__(
        self,
        *,
        consumer_tag: str = "",
    ) -> None:
        self.consumer_tag = consumer_tag


class BasicPublish(Method):
    __slots__ = ("exchange", "immediate", "mandatory", "routing_key")
    CLASS_ID = 60
    METHOD_ID = 40
    IS_SYNC = False
    ARGUMENTS = (
        ("reserved", "short"),
        ("exchange", "shortstr"),
        ("routing_key", "shortstr"),
        ("mandatory", "bit"),
        ("immediate", "bit"),
    )

    def __init__(
        self,
        *,
        exchange: str = "",
        routing_key: str = "",
        mandatory: bool = False,
        immediate: bool = False,
    ) -> None:
        self.exchange = exchange
        self.routing_key = routing_key
        self.mandatory = mandatory
        self.immediate = immediate


class BasicReturn(Method):
    __slots__ = ("exchange", "reply_code", "reply_text", "routing_key")
    CLASS_ID = 60
    METHOD_ID = 50
    IS_SYNC = False
    ARGUMENTS = (
        ("reply_code", "short"),
        ("reply_text", "shortstr"),
        ("exchange", "shortstr"),
        ("routing_key", "shortstr"),
    )

    def __init__(
        self,
        *,
        reply_code: int = 0,
        reply_text: str = "",
        exchange: str = "",
        routing_key: str = "",
    ) -> None:
        self.reply_code = reply_code
        self.reply_text = reply_text
        self.exchange = exchange
        self.routing_key = routing_key


class BasicDeliver(Method):
    __slots__ = ("consumer_tag", "delivery_tag", "exchange", "redelivered", "routing_key")
    CLASS_ID = 60
    METHOD_ID = 60
    IS_SYNC = False
    ARGUMENTS = (
        ("consumer_tag", "shortstr"),
        ("delivery_tag", "longlong"),
        ("redelivered", "bit"),
        ("exchange", "shortstr"),
        ("routing_key", "shortstr"),
    )

    def __init__(
        self,
        *,
        consumer_tag: str = "",
        delivery_tag: int = 0,
        redelivered: bool = False,
        exchange: str = "",
        routing_key: str = "",
    ) -> None:
        self.consumer_tag = consumer_tag
        self.delivery_tag = delivery_tag
        self.redelivered = redelivered
        self.exchange = exchange
        self.routing_key = routing_key


class BasicGet(Method):
    __slots__ = ("no_ack", "queue")
    CLASS_ID = 60
    METHOD_ID = 70
    IS_SYNC = True
    ARGUMENTS = (
        ("reserved", "short"),
        ("queue", "shortstr"),
        ("no_ack", "bit"),
    )

    def __init__(
        self,
        *,
        queue: str = "",
        no_ack: bool = False,
    ) -> None:
        self.queue = queue
        self.no_ack = no_ack


class BasicGetOk(Method):
    __slots__ = ("delivery_tag", "exchange", "message_count", "redelivered", "routing_key")
    CLASS_ID = 60
    METHOD_ID = 71
    IS_SYNC = False
    ARGUMENTS = (
        ("delivery_tag", "longlong"),
        ("redelivered", "bit"),
        ("exchange", "shortstr"),
        ("routing_key", "shortstr"),
        ("message_count", "long"),
    )

    def __init__(
        self,
        *,
        delivery_tag: int = 0,
        redelivered: bool = False,
        exchange: str = "",
        routing_key: str = "",
        message_count: int = 0,
    ) -> None:
        self.delivery_tag = delivery_tag
        self.redelivered = redelivered
        self.exchange = exchange
        self.routing_key = routing_key
        self.message_count = message_count


class BasicGetEmpty(Method):
    __slots__ = ()
    CLASS_ID = 60
    METHOD_ID = 72
    IS_SYNC = False
    ARGUMENTS = (("reserved", "shortstr"),)


class BasicAck(Method):
    __slots__ = ("delivery_tag", "multiple")
    CLASS_ID = 60
    METHOD_ID = 80
    IS_SYNC = False
    ARGUMENTS = (
        ("delivery_tag", "longlong"),
        ("multiple", "bit"),
    )

    def __init__(
        self,
        *,
        delivery_tag: int = 0,
        multiple: bool = False,
    ) -> None:
        self.delivery_tag = delivery_tag
        self.multiple = multiple


class BasicReject(Method):
    __slots__ = ("delivery_tag", "requeue")
    CLASS_ID = 60
    METHOD_ID = 90
    IS_SYNC = False
    ARGUMENTS = (
        ("delivery_tag", "longlong"),
        ("requeue", "bit"),
    )

    def __init__(
        self,
        *,
        delivery_tag: int = 0,
        requeue: bool = False,
    ) -> None:
        self.delivery_tag = delivery_tag
        self.requeue = requeue


class BasicRecoverAsync(Method):
    __slots__ = ("requeue",)
    CLASS_ID = 60
    METHOD_ID = 100
    IS_SYNC = False
    ARGUMENTS = (("requeue", "bit"),)

    def __init__(
        self,
        *,
        requeue: bool = False,
    ) -> None:
        self.requeue = requeue


class BasicRecover(Method):
    __slots__ = ("requeue",)
    CLASS_ID = 60
    METHOD_ID = 110
    IS_SYNC = True
    ARGUMENTS = (("requeue", "bit"),)

    def __init__(
        self,
        *,
        requeue: bool = False,
    ) -> None:
        self.requeue = requeue


class BasicRecoverOk(Method):
    __slots__ = ()
    CLASS_ID = 60
    METHOD_ID = 111
    IS_SYNC = False
    ARGUMENTS = ()


class BasicNack(Method):
    __slots__ = ("delivery_tag", "multiple", "requeue")
    CLASS_ID = 60
    METHOD_ID = 120
    IS_SYNC = False
    ARGUMENTS = (
        ("delivery_tag", "longlong"),
        ("multiple", "bit"),
        ("requeue", "bit"),
    )

    def __init__(
        self,
        *,
        delivery_tag: int = 0,
        multiple: bool = False,
        requeue: bool = False,
    ) -> None:
        self.delivery_tag = delivery_tag
        self.multiple = multiple
        self.requeue = requeue


class ConfirmSelect(Method):
    __slots__ = ("no_wait",)
    CLASS_ID = 85
    METHOD_ID = 10
    IS_SYNC = True
    ARGUMENTS = (("no_wait", "bit"),)

    def __init__(
        self,
        *,
        no_wait: bool = False,
    ) -> None:
        self.no_wait = no_wait


class ConfirmSelectOk(Method):
    __slots__ = ()
    CLASS_ID = 85
    METHOD_ID = 11
    IS_SYNC = False
    ARGUMENTS = ()


class TxSelect(Method):
    __slots__ = ()
    CLASS_ID = 90
    METHOD_ID = 10
    IS_SYNC = True
    ARGUMENTS = ()


class TxSelectOk(Method):
    __slots__ = ()
    CLASS_ID = 90
    METHOD_ID = 11
    IS_SYNC = False
    ARGUMENTS = ()


class TxCommit(Method):
    __slots__ = ()
    CLASS_ID = 90
    METHOD_ID = 20
    IS_SYNC = True
    ARGUMENTS = ()


class TxCommitOk(Method):
    __slots__ = ()
    CLASS_ID = 90
    METHOD_ID = 21
    IS_SYNC = False
    ARGUMENTS = ()


class TxRollback(Method):
    __slots__ = ()
    CLASS_ID = 90
    METHOD_ID = 30
    IS_SYNC = True
    ARGUMENTS = ()


class TxRollbackOk(Method):
    __slots__ = ()
    CLASS_ID = 90
    METHOD_ID = 31
    IS_SYNC = False
    ARGUMENTS = ()


METHODS: dict[tuple[int, int], type[Method]] = {
    (each.CLASS_ID, each.METHOD_ID): each
    for each in (
        ConnectionStart,
        ConnectionStartOk,
        ConnectionSecure,
        ConnectionSecureOk,
        ConnectionTune,
        ConnectionTuneOk,
        ConnectionOpen,
        ConnectionOpenOk,
        ConnectionClose,
        ConnectionCloseOk,
        ConnectionBlocked,
        ConnectionUnblocked,
        ConnectionUpdateSecret,
        ConnectionUpdateSecretOk,
        ChannelOpen,
        ChannelOpenOk,
        ChannelFlow,
        ChannelFlowOk,
        ChannelClose,
        ChannelCloseOk,
        AccessRequest,
        AccessRequestOk,
        ExchangeDeclare,
        ExchangeDeclareOk,
        ExchangeDelete,
        ExchangeDeleteOk,
        ExchangeBind,
        ExchangeBindOk,
        ExchangeUnbind,
        ExchangeUnbindOk,
        QueueDeclare,
        QueueDeclareOk,
        QueueBind,
        QueueBindOk,
        QueuePurge,
        QueuePurgeOk,
        QueueDelete,
        QueueDeleteOk,
        QueueUnbind,
        QueueUnbindOk,
        BasicQos,
        BasicQosOk,
        BasicConsume,
        BasicConsumeOk,
        BasicCancel,
        BasicCancelOk,
        BasicPublish,
        BasicReturn,
        BasicDeliver,
        BasicGet,
        BasicGetOk,
        BasicGetEmpty,
        BasicAck,
        BasicReject,
        BasicRecoverAsync,
        BasicRecover,
        BasicRecoverOk,
        BasicNack,
        ConfirmSelect,
        ConfirmSelectOk,
        TxSelect,
        TxSelectOk,
        TxCommit,
        TxCommitOk,
        TxRollback,
        TxRollbackOk,
    )
}
