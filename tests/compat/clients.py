"""The drivers as processes: built where needed, started once, asked by JSON lines (``drivers/lines.py``)."""

from __future__ import annotations

import base64
import contextlib
import fcntl
import json
import os
import queue
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
REPOSITORY = HERE.parents[1]
CACHE = REPOSITORY / ".compat"
PYTHON_CLIENTS = {"confluent": "confluent_driver", "kafka-python": "kafka_python_driver", "aiokafka": "aiokafka_driver"}
CLIENT_NAMES = [*PYTHON_CLIENTS, "java", "go"]
ANSWER_TIMEOUT_S = 60.0
TOOL_TIMEOUT_S = 60.0


class ClientRefused(Exception):
    """The client reported a Kafka error (or -1000: something that is none)."""

    def __init__(self, client: str, code: int, message: str) -> None:
        super().__init__(f"{client}: {code} {message}")
        self.code = code
        self.message = message


def record(
    value: bytes | None,
    key: bytes | None = None,
    headers: list[tuple[str, bytes | None]] | None = None,
    timestamp: int | None = None,
) -> dict[str, Any]:
    """A record as the commands want it."""
    return {
        "key": encoded(key),
        "value": encoded(value),
        "headers": [[name, encoded(header)] for name, header in headers or []],
        "timestamp": timestamp,
    }


def encoded(data: bytes | None) -> str | None:
    return None if data is None else base64.b64encode(data).decode()


def decoded(text: str | None) -> bytes | None:
    return None if text is None else base64.b64decode(text)


def values(records: list[dict[str, Any]]) -> list[bytes | None]:
    return [decoded(found["value"]) for found in records]


class Client:
    """One driver process. Calls are methods: ``client.produce(topic=..., records=[...])``."""

    def __init__(self, name: str, command: list[str], said: Path) -> None:
        self.name = name
        with said.open("ab") as errors:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                cwd=REPOSITORY,
                text=True,
                bufsize=1,
            )
        self.answers: queue.Queue[str] = queue.Queue()
        self.listener = threading.Thread(target=self.listen, daemon=True, name=f"answers of {name}")
        self.listener.start()
        self.version = json.loads(self.next_answer("the start"))["ok"]

    def listen(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.answers.put(line)

    def next_answer(self, asked: str) -> str:
        try:
            return self.answers.get(timeout=ANSWER_TIMEOUT_S)
        except queue.Empty:
            self.close()
            raise AssertionError(f"{self.name} gave no answer to {asked} in {ANSWER_TIMEOUT_S} s") from None

    def ask(self, operation: str, **arguments: Any) -> None:
        """Sends a command; ``hear`` takes its answer. A command runs while the test does something else."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"op": operation, **arguments}) + "\n")
        self.process.stdin.flush()

    def hear(self, operation: str = "") -> Any:
        answer = json.loads(self.next_answer(operation))
        if "error" in answer:
            raise ClientRefused(self.name, answer["error"], answer["message"])
        if "unsupported" in answer:
            raise AssertionError(f"{self.name} has no {operation} ({answer['unsupported']}); FINDINGS.md must say so")
        return answer["ok"]

    def __getattr__(self, operation: str) -> Any:
        def call(**arguments: Any) -> Any:
            self.ask(operation, **arguments)
            return self.hear(operation)

        return call

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        self.listener.join()
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            with contextlib.suppress(OSError):
                pipe.close()


@contextlib.contextmanager
def built_once(stamp: Path) -> Iterator[bool]:
    """Yields whether there is work to do; test processes side by side wait for the first of them."""
    CACHE.mkdir(exist_ok=True)
    with (CACHE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        sources = [path for path in stamp_sources(stamp) if path.is_file()]
        fresh = stamp.exists() and all(path.stat().st_mtime <= stamp.stat().st_mtime for path in sources)
        yield not fresh
        if not fresh:
            stamp.touch()


def stamp_sources(stamp: Path) -> list[Path]:
    return [*(HERE / stamp.parent.name).rglob("*")]


def run(command: list[str], directory: Path, environment: dict[str, str] | None = None) -> None:
    done = subprocess.run(
        command, cwd=directory, capture_output=True, text=True, env=os.environ | (environment or {}), timeout=600
    )
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}\n{done.stderr}"


def java_classpath() -> str:
    """Jars fetched by Maven and our driver compiled; skips where there is no JDK or Maven."""
    for tool in ("java", "javac", "mvn"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")
    home = CACHE / "java"
    with built_once(home / "built") as needed:
        if needed:
            shutil.rmtree(home, ignore_errors=True)
            (home / "classes").mkdir(parents=True)
            fetch = ["mvn", "-B", "-q", "-f", str(HERE / "java" / "pom.xml"), "dependency:copy-dependencies"]
            run([*fetch, "-DincludeScope=runtime", f"-DoutputDirectory={home / 'libs'}"], home)
            compile_ = ["javac", "-d", str(home / "classes"), "-cp", f"{home}/libs/*"]
            run([*compile_, *map(str, sorted((HERE / "java" / "src").glob("*.java")))], home)
    return f"{home}/classes:{home}/libs/*"


def go_driver() -> str:
    """The Go driver, built from modules; skips where there is no Go."""
    if shutil.which("go") is None:
        pytest.skip("go is not installed")
    home = CACHE / "go"
    home.mkdir(parents=True, exist_ok=True)
    with built_once(home / "built") as needed:
        if needed:
            run(["go", "build", "-mod=readonly", "-o", str(home / "driver"), "."], HERE / "go")
    return str(home / "driver")


JAVA_OPTIONS = ["-Xmx256M", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto"]


def start_client(name: str, bootstrap: str, said: Path) -> Client:
    if name in PYTHON_CLIENTS:
        command = [sys.executable, "-m", f"tests.compat.drivers.{PYTHON_CLIENTS[name]}", bootstrap]
    elif name == "java":
        command = ["java", *JAVA_OPTIONS, "-cp", java_classpath(), "Driver", bootstrap]
    else:
        command = [go_driver(), bootstrap]
    return Client(name, command, said)


class Clients:
    """Every driver, started when first asked for."""

    def __init__(self, bootstrap: str, home: Path) -> None:
        self.bootstrap = bootstrap
        self.home = home
        self.started: dict[str, Client] = {}

    def __getitem__(self, name: str) -> Client:
        known = self.started.get(name)
        if known is None or known.process.poll() is not None:
            known = self.started[name] = start_client(name, self.bootstrap, self.home / f"{name}.errors")
        return known

    def close(self) -> None:
        for client in self.started.values():
            client.close()


def java_tool(main: str, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """Runs one of Kafka's console tools by its main class."""
    command = ["java", *JAVA_OPTIONS, "-cp", java_classpath(), main, *arguments]
    return subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=TOOL_TIMEOUT_S)
