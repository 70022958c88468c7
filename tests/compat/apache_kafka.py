"""Apache Kafka itself as a process, from the jars that the Java client's driver needs anyway."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from tests.compat.clients import JAVA_OPTIONS, java_classpath

PROPERTIES = """\
process.roles=broker,controller
node.id=1
controller.quorum.bootstrap.servers=127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
inter.broker.listener.name=PLAINTEXT
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
log.dirs={data}
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=3
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
group.initial.rebalance.delay.ms=0
"""
CLUSTER_ID = "dHdpbmxvZy1zcGFyay10MQ"
START_S = 90.0


@contextlib.contextmanager
def apache_kafka(home: Path) -> Iterator[str]:
    """A broker with default promises for the length of the block; yields its address."""
    port, controller = free_port(), free_port()
    properties = home / "server.properties"
    properties.write_text(PROPERTIES.format(port=port, controller=controller, data=home / "data"))
    java = ["java", *JAVA_OPTIONS, "-cp", java_classpath()]
    told = home / "kafka.log"
    with told.open("ab") as log:
        form = ["kafka.tools.StorageTool", "format", "--standalone", "-t", CLUSTER_ID, "-c", str(properties)]
        subprocess.run([*java, *form], check=True, stdout=log, stderr=log, timeout=START_S)
        process = subprocess.Popen([*java, "kafka.Kafka", str(properties)], stdout=log, stderr=log)
    try:
        deadline_s = time.monotonic() + START_S
        while not answers(port):
            assert process.poll() is None, f"Apache Kafka ended\n{told.read_text()[-4000:]}"
            assert time.monotonic() < deadline_s, f"Apache Kafka does not answer\n{told.read_text()[-4000:]}"
            time.sleep(0.05)
        yield f"127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def answers(port: int) -> bool:
    """Whether it knows itself as a broker, and gives out producer ids."""
    from pyspark_twinlog.door import SparkDoor
    from twinlog.base.address import parse_address
    from twinlog.client import Client, ClientError, Producer

    try:
        with Client([parse_address(f"127.0.0.1:{port}")], SparkDoor(), timeout_ms=2000) as client:
            Producer(client)
            return bool(client.refresh([]).brokers)
    except ClientError:
        return False
