"""``twinlog serve`` as a child process."""

from __future__ import annotations

import base64
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from twinlog.base.address import parse_address
from twinlog.testing.faults import Faults

POLL_S: Final = 0.005
LOG_TAIL_CHARACTERS: Final = 4000


class ApiRefused(Exception):
    """The broker's HTTP API refused something; the text says why."""


class BrokerFailed(Exception):
    """The broker did not start, or did not stop; the text holds the end of its log."""


class Broker:
    """Starts when entered (or by ``start``), stops when left; then the directory it made goes, too.

    ``settings`` are ``section.name`` to value, as ``twinlog serve --set`` takes them. With a ``data_dir`` of your own
    the data stays. After ``stop`` or ``kill`` another ``start`` serves the same data at the same addresses.
    """

    def __init__(
        self,
        data_dir: str | os.PathLike[str] | None = None,
        *,
        settings: Mapping[str, object] | None = None,
        arguments: tuple[str, ...] = (),
        environment: Mapping[str, str] | None = None,
        start_timeout_s: float = 30.0,
        stop_timeout_s: float = 30.0,
        faults: bool = False,
    ) -> None:
        self._faults = faults
        self._settings: dict[str, object] = {
            "kafka.listen": "127.0.0.1:0",
            "amqp.listen": "off",
            "http.listen": "off",
            **(settings or {}),
        }
        self._arguments = arguments
        self._environment = environment or {}
        self._start_timeout_s = start_timeout_s
        self._stop_timeout_s = stop_timeout_s
        self._home: Path | None = None
        self._given = Path(data_dir) if data_dir is not None else None
        self._process: subprocess.Popen[bytes] | None = None
        self._told: dict[str, Any] = {}
        self._knobs: Any = None

    def __enter__(self) -> Broker:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        try:
            if self.running:
                self.stop()
        finally:
            self.remove()

    # ---- what it is -------------------------------------------------------------------------------------------

    @property
    def kafka(self) -> str:
        """The address for Kafka clients, HOST:PORT."""
        return str(self._told["kafka"])

    @property
    def amqp(self) -> str:
        """The address for AMQP clients, HOST:PORT."""
        return str(self._told["amqp"])

    @property
    def http(self) -> str:
        """The address for browsers and management tools, HOST:PORT. Switched on by ``http.listen``."""
        return str(self._told["http"])

    @property
    def data_dir(self) -> Path:
        return self._given if self._given is not None else self._own_home() / "data"

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def log(self) -> str:
        """Everything it wrote to standard output and standard error so far."""
        path = self._own_home() / "log"
        return path.read_text(errors="replace") if path.exists() else ""

    # ---- what is in it ----------------------------------------------------------------------------------------

    def ask(self, method: str, path: str, body: object = None, *, user: str = "guest", password: str = "guest") -> Any:
        """A request to the HTTP API (``http.listen`` has to be on); what it answered, or ``ApiRefused``."""
        host, port = parse_address(self.http)
        token = base64.b64encode(f"{user}:{password}".encode()).decode()
        headers = {"Authorization": f"Basic {token}", "Content-Type": "application/json"}
        connection = HTTPConnection(host, port, timeout=self._start_timeout_s)
        try:
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            answer = connection.getresponse()
            content = answer.read()
        finally:
            connection.close()
        if answer.status >= 400:
            raise ApiRefused(f"{method} {path}: {answer.status} {content.decode(errors='replace')}")
        return json.loads(content) if content else None

    def create_topic(self, name: str, *, partitions: int = 1, configs: Mapping[str, object] | None = None) -> None:
        self.ask("PUT", f"/api/topics/{quote(name)}", {"partitions": partitions, "configs": dict(configs or {})})

    def delete_topic(self, name: str) -> None:
        self.ask("DELETE", f"/api/topics/{quote(name)}")

    def create_queue(self, name: str, *, durable: bool = True, arguments: Mapping[str, object] | None = None) -> None:
        """In the vhost ``/``."""
        body = {"durable": durable, "arguments": dict(arguments or {})}
        self.ask("PUT", f"/api/queues/%2F/{quote(name, safe='')}", body)

    def delete_queue(self, name: str) -> None:
        self.ask("DELETE", f"/api/queues/%2F/{quote(name, safe='')}")

    # ---- what breaks ------------------------------------------------------------------------------------------

    @property
    def faults(self) -> Faults:
        """Knobs that break things in the running broker. Those of the disk need ``Broker(faults=True)``."""
        return Faults(self)

    def turn(self, **knobs: float) -> dict[str, Any]:
        """Turns knobs of the machine below the broker (``twinlog.testing.serve``); what it answered."""
        assert self._knobs is not None, "start it with Broker(faults=True) to turn its machine's knobs"
        self._knobs.write(json.dumps(knobs).encode() + b"\n")
        self._knobs.flush()
        line = self._knobs.readline()
        if not line:
            raise BrokerFailed(f"it ended while its machine was turned\n{self._tail()}")
        answer: dict[str, Any] = json.loads(line)
        return answer

    @property
    def has_knobs(self) -> bool:
        return self._knobs is not None

    # ---- what time it is --------------------------------------------------------------------------------------

    def advance(
        self, *, milliseconds: int = 0, seconds: float = 0, minutes: float = 0, hours: float = 0, days: float = 0
    ) -> int:
        """Moves the broker's time on, and runs what is due by then: messages expire, records get old, members that
        were silent are taken for dead. The clients' time goes on as ever. What the broker's clock says afterwards, in
        milliseconds since 1970. Needs ``Broker(faults=True)``."""
        seconds += 60 * (minutes + 60 * (hours + 24 * days))
        span_ms = milliseconds + round(seconds * 1000)
        assert span_ms >= 0, "time goes one way"
        return int(self.turn(advance_ms=span_ms)["now_ms"])

    # ---- its life ---------------------------------------------------------------------------------------------

    def start(self) -> Broker:
        """Returns when it is ready to serve."""
        assert not self.running, "it runs already"
        ready = self._own_home() / "ready"
        ready.unlink(missing_ok=True)
        theirs = self._new_knobs() if self._faults else None
        command = [
            sys.executable,
            "-m",
            *(("twinlog.testing.serve", str(theirs.fileno())) if theirs is not None else ("twinlog", "serve")),
            "--data-dir",
            str(self.data_dir),
            "--ready-file",
            str(ready),
        ]
        for name, value in self._settings.items():
            command += ["--set", f"{name}={str(value).lower() if isinstance(value, bool) else value}"]
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("TWINLOG_")}
        with (self._own_home() / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [*command, *self._arguments],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=() if theirs is None else (theirs.fileno(),),
                env={**inherited, **self._environment},
            )
        if theirs is not None:
            theirs.close()
        deadline_s = time.monotonic() + self._start_timeout_s
        while not ready.exists():
            if self._process.poll() is not None:
                raise BrokerFailed(f"it ended with {self._process.returncode} instead of starting\n{self._tail()}")
            if time.monotonic() > deadline_s:
                self.kill()
                raise BrokerFailed(f"it was not ready within {self._start_timeout_s} s\n{self._tail()}")
            time.sleep(POLL_S)
        self._told = json.loads(ready.read_text())
        for side in ("kafka", "amqp", "http"):
            if self._told[side]:
                self._settings[f"{side}.listen"] = self._told[side]  # clients come back to the address they know
        return self

    def stop(self) -> int:
        """Asks it to drain and stop; its exit code, 0 when all went well."""
        return self.signal(signal.SIGTERM)

    def signal(self, number: int) -> int:
        """Sends a signal and waits for the end; the exit code."""
        assert self._process is not None
        self._process.send_signal(number)
        try:
            return self._process.wait(self._stop_timeout_s)
        except subprocess.TimeoutExpired:
            self.kill()
            raise BrokerFailed(f"it did not stop within {self._stop_timeout_s} s\n{self._tail()}") from None

    def kill(self) -> None:
        """Ends it at once, as a crash would."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def _new_knobs(self) -> socket.socket:
        """Ours is a file, theirs is for the child."""
        if self._knobs is not None:
            self._knobs.close()
        ours, theirs = socket.socketpair()
        ours.settimeout(self._start_timeout_s)
        with ours:
            self._knobs = ours.makefile("rwb")
        return theirs

    def remove(self) -> None:
        """Deletes what this object made, not what it was given."""
        if self._knobs is not None:
            self._knobs.close()
            self._knobs = None
        if self._home is not None:
            shutil.rmtree(self._home, ignore_errors=True)
            self._home = None

    def _own_home(self) -> Path:
        if self._home is None:
            self._home = Path(tempfile.mkdtemp(prefix="twinlog-test-"))
        return self._home

    def _tail(self) -> str:
        return self.log[-LOG_TAIL_CHARACTERS:]
