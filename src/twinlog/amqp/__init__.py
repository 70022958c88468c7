"""What AMQP 0-9-1 means: connections, channels, exchanges, queues, deliveries; no sockets, no files, no clocks.

A publish is a *run* from the kernel (several messages in one stored block): it is routed, stored, limited and confirmed
once, and only taken apart when a message leaves the order. What the room needs from others stands in ``ports.py``.
"""
