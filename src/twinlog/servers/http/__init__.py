"""HTTP: the management API that RabbitMQ's tools know, the same for Kafka's things, live figures, metrics, the console.

Promises: one listener on the node's own loop, no thread and no framework; every request is bounded in size, time and
headers before anything is done with it; who asks is known before a body is read; a change asked for through a
browser needs the session's token and our own origin; every answer carries the headers that keep a page from
doing what we did not write. Decides nothing about queues, topics or users: it asks the rooms that do, and says in HTTP
what they answered. Owns nothing on disk; sessions live in memory and end with the process.

The wire is ``h11``'s, which is loaded, like everything else here, when the first connection comes (``docs/adr/0020``).
"""
