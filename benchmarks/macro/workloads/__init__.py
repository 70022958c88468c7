"""Workloads of our own for the Kafka suite: modules with ``run(bootstrap, server_pid) -> dict``."""
