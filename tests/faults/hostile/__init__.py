"""Hostile input on the Kafka port, under load. The tests' names say the rows of the list: K1-K7, K11-K14, K16.

For all of them (``attack.py``): the broker stays alive, other connections are served meanwhile, its memory grows by
less than 32 MiB, the log end of a topic nobody attacked rightly stands still, and its log grows by few lines.
"""
