"""The store of all queues of a node.

One journal takes the messages of all queues, so that one sync a round makes all of them durable; acknowledgements go
there too. When the journal has a file too many, what is still wanted of its oldest moves to files of the queues' own,
read from front to back, with acknowledgements beside them; a file goes when all in it is settled. So messages that are
settled soon are written once and never copied, and a deep queue costs a few numbers in memory.

Invariants: what ``when_durable`` called durable is there after any stop, or the start says that it is not; what was
settled and durable never comes back. It owns the directory it is given; see docs/formats/queue-store.md.
"""

from twinlog.amqp.store.settings import QueueStoreSettings
from twinlog.amqp.store.store import QueueStore

__all__ = ["QueueStore", "QueueStoreSettings"]
