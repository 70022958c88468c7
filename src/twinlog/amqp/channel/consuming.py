"""Consuming: consumers, single messages, prefetch limits, and having everything sent again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from twinlog._kernel import encode_content, run_info, split_run
from twinlog.amqp.arguments import is_int
from twinlog.amqp.channel.consumer import ChannelConsumer, ReplyConsumer
from twinlog.amqp.channel.declaring import readable_queue
from twinlog.amqp.codes import NOT_ALLOWED, NOT_IMPLEMENTED, PRECONDITION_FAILED, refuse
from twinlog.amqp.ports import STREAM
from twinlog.amqp.replies import PREFIX, PSEUDO_QUEUE
from twinlog.wire.amqp.codec import encode_arguments
from twinlog.wire.amqp.methods import (
    BasicCancel,
    BasicCancelOk,
    BasicConsume,
    BasicConsumeOk,
    BasicGet,
    BasicGetEmpty,
    BasicGetOk,
    BasicQos,
    BasicQosOk,
    BasicRecover,
    BasicRecoverAsync,
    BasicRecoverOk,
)

if TYPE_CHECKING:
    from twinlog.amqp.channel.channel import Channel

MADE_UP: Final = "amq.ctag-"
PRIORITY: Final = "x-priority"


def qos(channel: Channel, method: BasicQos) -> None:
    if method.prefetch_size:
        refuse(NOT_IMPLEMENTED, f"prefetch_size!=0 ({method.prefetch_size})")
    if method.is_global:
        if any(consumer.queue.info.type == STREAM for consumer in channel.consumers.values()):
            refuse(NOT_IMPLEMENTED, "a limit for a whole channel does not go with its consumers of streams")
        channel.prefetch = method.prefetch_count
    else:
        channel.consumer_prefetch = method.prefetch_count
        if channel.broker.settings.qos_reaches_running_consumers:
            for consumer in channel.consumers.values():
                consumer.prefetch = method.prefetch_count
    channel.send(BasicQosOk())
    channel.resume_starved()


def consume(channel: Channel, method: BasicConsume) -> None:
    if method.queue == PSEUDO_QUEUE:
        _consume_replies(channel, method)
        return
    info = readable_queue(channel, channel.named(method.queue))
    tag = _new_tag(channel, method.consumer_tag)
    priority = method.arguments.get(PRIORITY, 0)
    if not is_int(priority):
        refuse(PRECONDITION_FAILED, f"invalid arg '{PRIORITY}': {priority!r} is not a number")
    consumer = ChannelConsumer(
        channel,
        channel.broker.messages.queue(info),
        tag,
        no_ack=method.no_ack,
        exclusive=method.exclusive,
        priority=priority,
        prefetch=channel.consumer_prefetch,
        arguments=method.arguments,
    )
    consumer.queue.consume(consumer)
    channel.consumers[tag] = consumer
    channel.reply(method, BasicConsumeOk(consumer_tag=tag))


def _consume_replies(channel: Channel, method: BasicConsume) -> None:
    if not method.no_ack:
        refuse(PRECONDITION_FAILED, "reply consumer cannot acknowledge")
    if channel.reply_consumer is not None:
        refuse(PRECONDITION_FAILED, "reply consumer already set")
    tag = _new_tag(channel, method.consumer_tag)
    channel.reply_consumer = ReplyConsumer(channel, tag, channel.broker.new_name(PREFIX))
    channel.broker.replies.add(channel.reply_consumer.name, channel.reply_consumer)
    channel.reply(method, BasicConsumeOk(consumer_tag=tag))


def _new_tag(channel: Channel, tag: str) -> str:
    if tag == "":
        tag = channel.broker.new_name(MADE_UP)
    replies = channel.reply_consumer
    if tag in channel.consumers or (replies is not None and replies.tag == tag):
        refuse(NOT_ALLOWED, f"attempt to reuse consumer tag '{tag}'")
    if len(channel.consumers) >= channel.broker.settings.consumers_max:
        refuse(NOT_ALLOWED, f"a channel may have {channel.broker.settings.consumers_max} consumers")
    return tag


def cancel(channel: Channel, method: BasicCancel) -> None:
    tag = method.consumer_tag
    replies = channel.reply_consumer
    if replies is not None and replies.tag == tag:
        channel.broker.replies.remove(replies.name)
        channel.reply_consumer = None
    consumer = channel.consumers.get(tag)
    if consumer is not None:
        consumer.queue.catch_up()
        del channel.consumers[tag]
        consumer.is_cancelled = True
        consumer.queue.cancel(consumer)
    channel.reply(method, BasicCancelOk(consumer_tag=tag))


def get(channel: Channel, method: BasicGet) -> None:
    queue = channel.broker.messages.queue(readable_queue(channel, channel.named(method.queue)))
    got = queue.get(no_ack=method.no_ack)
    if got is None:
        channel.send(BasicGetEmpty())
        return
    for counts in (channel.broker.counts, channel.traffic, queue.info.traffic):
        counts.redeliver += got.redelivered
        if method.no_ack:
            counts.get_no_ack += 1
        else:
            counts.get += 1
    exchange, key, *_ = run_info(got.blob)
    ((_, properties, body),) = split_run(got.blob, got.position, 1)
    answer = BasicGetOk(
        delivery_tag=channel.take_tag(queue, got.number, no_ack=method.no_ack),
        redelivered=got.redelivered,
        exchange=exchange,
        routing_key=key,
        message_count=got.ready_after,
    )
    channel.peer.send(encode_content(channel.number, encode_arguments(answer), properties, body, channel.frame_max))


def recover(channel: Channel, method: BasicRecover) -> None:
    _recover(channel, method.requeue)
    channel.send(BasicRecoverOk())


def recover_async(channel: Channel, method: BasicRecoverAsync) -> None:
    _recover(channel, method.requeue)


def _recover(channel: Channel, requeue: bool) -> None:
    if not requeue:
        refuse(NOT_IMPLEMENTED, "requeue=false")
    channel.give_back(channel.outstanding.take_all(), requeue=True)
