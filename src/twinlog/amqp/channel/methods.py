"""What each method of a client does on its channel. ``ANSWERS`` is the whole list; what is not in it is 503."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from twinlog.amqp.channel import consuming, declaring
from twinlog.amqp.channel.transaction import Transaction
from twinlog.amqp.codes import NOT_IMPLEMENTED, PRECONDITION_FAILED, refuse
from twinlog.wire.amqp.methods import (
    AccessRequest,
    AccessRequestOk,
    BasicCancel,
    BasicCancelOk,
    BasicConsume,
    BasicGet,
    BasicQos,
    BasicRecover,
    BasicRecoverAsync,
    ChannelFlow,
    ChannelFlowOk,
    ConfirmSelect,
    ConfirmSelectOk,
    ExchangeBind,
    ExchangeDeclare,
    ExchangeDelete,
    ExchangeUnbind,
    QueueBind,
    QueueDeclare,
    QueueDelete,
    QueuePurge,
    QueueUnbind,
    TxCommit,
    TxCommitOk,
    TxRollback,
    TxRollbackOk,
    TxSelect,
    TxSelectOk,
)

if TYPE_CHECKING:
    from twinlog.amqp.channel.channel import Channel

TICKET: Final = 1


def flow(channel: Channel, method: ChannelFlow) -> None:
    if not method.active:
        refuse(NOT_IMPLEMENTED, "active=false")
    channel.send(ChannelFlowOk(active=True))


def access(channel: Channel, method: AccessRequest) -> None:
    channel.send(AccessRequestOk(ticket=TICKET))


def select_confirms(channel: Channel, method: ConfirmSelect) -> None:
    if channel.transaction is not None:
        refuse(PRECONDITION_FAILED, "cannot switch from tx to confirm mode")
    if not channel.confirms.is_on:
        channel.on_turn_end()  # what was published before is not counted
        channel.confirms.is_on = True
    channel.reply(method, ConfirmSelectOk())


def select_transactions(channel: Channel, method: TxSelect) -> None:
    if channel.confirms.is_on:
        refuse(PRECONDITION_FAILED, "cannot switch from confirm to tx mode")
    if channel.transaction is None:
        channel.on_turn_end()
        channel.transaction = Transaction()
    channel.send(TxSelectOk())


def commit(channel: Channel, method: TxCommit) -> None:
    transaction = _transaction(channel)
    channel.ask(method, lambda done: transaction.commit(channel, done), lambda _: channel.send(TxCommitOk()))


def rollback(channel: Channel, method: TxRollback) -> None:
    _transaction(channel).rollback(channel.outstanding)
    channel.send(TxRollbackOk())


def _transaction(channel: Channel) -> Transaction:
    if channel.transaction is None:
        refuse(PRECONDITION_FAILED, "channel is not transactional")
    return channel.transaction


def cancel_ok(channel: Channel, method: BasicCancelOk) -> None:
    """Some clients answer our cancels although those ask for no answer."""


ANSWERS: Final[Mapping[Any, Callable[[Channel, Any], None]]] = {
    AccessRequest: access,
    ChannelFlow: flow,
    ConfirmSelect: select_confirms,
    TxSelect: select_transactions,
    TxCommit: commit,
    TxRollback: rollback,
    ExchangeDeclare: declaring.declare_exchange,
    ExchangeDelete: declaring.delete_exchange,
    ExchangeBind: declaring.bind_exchange,
    ExchangeUnbind: declaring.unbind_exchange,
    QueueDeclare: declaring.declare_queue,
    QueueDelete: declaring.delete_queue,
    QueueBind: declaring.bind_queue,
    QueueUnbind: declaring.unbind_queue,
    QueuePurge: declaring.purge_queue,
    BasicQos: consuming.qos,
    BasicConsume: consuming.consume,
    BasicCancel: consuming.cancel,
    BasicCancelOk: cancel_ok,
    BasicGet: consuming.get,
    BasicRecover: consuming.recover,
    BasicRecoverAsync: consuming.recover_async,
}
