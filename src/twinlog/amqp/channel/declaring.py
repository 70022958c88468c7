"""Exchanges, queues and bindings, asked for by a client."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from twinlog.amqp.codes import ACCESS_REFUSED, RESOURCE_LOCKED, no_queue, refuse
from twinlog.amqp.ports import READ, QueueInfo
from twinlog.amqp.replies import PSEUDO_QUEUE
from twinlog.wire.amqp.methods import (
    ExchangeBind,
    ExchangeBindOk,
    ExchangeDeclare,
    ExchangeDeclareOk,
    ExchangeDelete,
    ExchangeDeleteOk,
    ExchangeUnbind,
    ExchangeUnbindOk,
    QueueBind,
    QueueBindOk,
    QueueDeclare,
    QueueDeclareOk,
    QueueDelete,
    QueueDeleteOk,
    QueuePurge,
    QueuePurgeOk,
    QueueUnbind,
    QueueUnbindOk,
)

if TYPE_CHECKING:
    from twinlog.amqp.channel.channel import Channel

MADE_UP: Final = "amq.gen-"


def declare_exchange(channel: Channel, method: ExchangeDeclare) -> None:
    channel.ask(
        method,
        lambda done: channel.broker.topology.declare_exchange(
            channel.peer.caller,
            method.exchange,
            method.type,
            passive=method.passive,
            durable=method.durable,
            auto_delete=method.auto_delete,
            internal=method.internal,
            arguments=method.arguments,
            done=done,
        ),
        lambda _: channel.reply(method, ExchangeDeclareOk()),
    )


def delete_exchange(channel: Channel, method: ExchangeDelete) -> None:
    channel.ask(
        method,
        lambda done: channel.broker.topology.delete_exchange(
            channel.peer.caller, method.exchange, if_unused=method.if_unused, done=done
        ),
        lambda _: channel.reply(method, ExchangeDeleteOk()),
    )


def bind_exchange(channel: Channel, method: ExchangeBind) -> None:
    channel.ask(
        method,
        lambda done: channel.broker.topology.bind_exchange(
            channel.peer.caller, method.destination, method.source, method.routing_key, method.arguments, done
        ),
        lambda _: channel.reply(method, ExchangeBindOk()),
    )


def unbind_exchange(channel: Channel, method: ExchangeUnbind) -> None:
    channel.ask(
        method,
        lambda done: channel.broker.topology.unbind_exchange(
            channel.peer.caller, method.destination, method.source, method.routing_key, method.arguments, done
        ),
        lambda _: channel.reply(method, ExchangeUnbindOk()),
    )


def declare_queue(channel: Channel, method: QueueDeclare) -> None:
    name = method.queue
    if name.startswith(PSEUDO_QUEUE):
        _probe_requester(channel, method)
        return
    is_made_up = name == "" and not method.passive
    if is_made_up:
        name = channel.broker.new_name(MADE_UP)
    elif name == "":
        name = channel.named(name)

    def declared(info: QueueInfo) -> None:
        channel.queue_last = info.name
        counts = channel.broker.keeper.counts(info)
        channel.reply(
            method, QueueDeclareOk(queue=info.name, message_count=counts.ready, consumer_count=counts.consumers)
        )

    channel.ask(
        method,
        lambda done: channel.broker.topology.declare_queue(
            channel.peer.caller,
            name,
            passive=method.passive,
            durable=method.durable,
            exclusive=method.exclusive,
            auto_delete=method.auto_delete,
            arguments=method.arguments,
            server_named=is_made_up,
            done=done,
        ),
        declared,
    )


def _probe_requester(channel: Channel, method: QueueDeclare) -> None:
    """Declaring the name of direct replies asks whether somebody still waits for them."""
    if not channel.broker.replies.is_there(method.queue):
        raise no_queue(channel.peer.caller.vhost, method.queue)
    channel.reply(method, QueueDeclareOk(queue=method.queue, message_count=0, consumer_count=1))


def delete_queue(channel: Channel, method: QueueDelete) -> None:
    name = channel.named(method.queue)
    channel.ask(
        method,
        lambda done: channel.broker.topology.delete_queue(
            channel.peer.caller, name, if_unused=method.if_unused, if_empty=method.if_empty, done=done
        ),
        lambda count: channel.reply(method, QueueDeleteOk(message_count=count)),
    )


def bind_queue(channel: Channel, method: QueueBind) -> None:
    name = channel.named(method.queue)
    if name.startswith(PSEUDO_QUEUE):
        refuse(ACCESS_REFUSED, f"cannot bind queue '{name}': direct replies go through no exchange")
    key = name if method.queue == "" and method.routing_key == "" else method.routing_key
    channel.ask(
        method,
        lambda done: channel.broker.topology.bind_queue(
            channel.peer.caller, name, method.exchange, key, method.arguments, done
        ),
        lambda _: channel.reply(method, QueueBindOk()),
    )


def unbind_queue(channel: Channel, method: QueueUnbind) -> None:
    name = channel.named(method.queue)
    key = name if method.queue == "" and method.routing_key == "" else method.routing_key
    channel.ask(
        method,
        lambda done: channel.broker.topology.unbind_queue(
            channel.peer.caller, name, method.exchange, key, method.arguments, done
        ),
        lambda _: channel.reply(method, QueueUnbindOk()),
    )


def purge_queue(channel: Channel, method: QueuePurge) -> None:
    info = readable_queue(channel, channel.named(method.queue))
    count = channel.broker.messages.queue(info).purge()
    channel.reply(method, QueuePurgeOk(message_count=count))


def readable_queue(channel: Channel, name: str) -> QueueInfo:
    """The queue of that name, if the client may take messages from it."""
    caller = channel.peer.caller
    channel.broker.rights.check(caller.user, caller.vhost, READ, name)
    info = channel.broker.topology.find_queue(caller.vhost, name)
    if info is None:
        raise no_queue(caller.vhost, name)
    if info.exclusive_owner is not None and info.exclusive_owner != caller.connection:
        refuse(
            RESOURCE_LOCKED,
            f"cannot obtain exclusive access to locked queue '{name}' in vhost '{caller.vhost}'. It could be "
            "originally declared on another connection or the exclusive property value does not match that of the "
            "original declaration.",
        )
    return info
