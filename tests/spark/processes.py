"""Spark's own servers as processes on loopback: a standalone cluster, and a server of Spark Connect."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pyspark

from pyspark_twinlog.session import prepare_environment

START_S = 120.0
HOME = Path(pyspark.__file__).parent


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def environment() -> dict[str, str]:
    prepare_environment()
    return {**os.environ, "SPARK_HOME": str(HOME), "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}


@contextlib.contextmanager
def server(main: str, *arguments: str, log: Path, ready: str) -> Iterator[None]:
    """One of Spark's main classes, until the block ends; ready when its log says so."""
    with log.open("wb") as told:
        command = [str(HOME / "bin" / "spark-class"), main, *arguments]
        process = subprocess.Popen(command, stdout=told, stderr=told, env=environment(), cwd=log.parent)
    try:
        deadline_s = time.monotonic() + START_S
        while ready not in log.read_text(errors="replace"):
            assert process.poll() is None, f"{main} ended\n{log.read_text()[-4000:]}"
            assert time.monotonic() < deadline_s, f"{main} is not ready\n{log.read_text()[-4000:]}"
            time.sleep(0.05)
        yield
    finally:
        process.terminate()
        process.wait()


@contextlib.contextmanager
def standalone_cluster(home: Path) -> Iterator[str]:
    """A master and one worker, two processes; yields spark://HOST:PORT."""
    port = free_port()
    address = f"spark://127.0.0.1:{port}"
    place = ["--host", "127.0.0.1", "--port", str(port), "--webui-port", str(free_port())]
    with server("org.apache.spark.deploy.master.Master", *place, log=home / "master.log", ready="I have been elected"):
        mine = ["--host", "127.0.0.1", "--cores", "2", "--memory", "1g", "--webui-port", str(free_port())]
        work = ["--work-dir", str(home / "work"), address]
        with server(
            "org.apache.spark.deploy.worker.Worker",
            *mine,
            *work,
            log=home / "worker.log",
            ready="Successfully registered with master",
        ):
            yield address


@contextlib.contextmanager
def connect_server(home: Path) -> Iterator[str]:
    """A server of Spark Connect; yields sc://HOST:PORT."""
    port = free_port()
    settings = {
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
        "spark.sql.shuffle.partitions": "2",
        "spark.ui.enabled": "false",
        "spark.driver.memory": "1g",
    }
    words = [word for name, value in settings.items() for word in ("--conf", f"{name}={value}")]
    main = ["--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "--master", "local[2]"]
    with server(
        "org.apache.spark.deploy.SparkSubmit",
        *main,
        *words,
        "spark-internal",
        log=home / "connect.log",
        ready="Spark Connect server started at",
    ):
        yield f"sc://127.0.0.1:{port}"
