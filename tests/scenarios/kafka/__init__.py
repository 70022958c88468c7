"""The checklist of what small Kafka brokers get wrong, one test a behaviour, over raw sockets.

The numbers in the tests' names are the rows of that list. Every test also passes against Apache Kafka
(``TWINLOG_TEST_BOOTSTRAP``), unless it says why the two differ.
"""
