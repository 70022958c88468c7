"""The Java client's own functional and server tests, run with the newest client against a broker of ours.

Their sources come from Debian's source archive (the newest that it has), the client and what it needs from Maven
Central. They expect a broker at port 5672 and a `rabbitmqctl`; ours listens elsewhere, and `rabbitmqctl.py` does what
they ask of it.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
import zlib
from pathlib import Path

import pytest

from tests.compat.clients import CACHE, JAVA_OPTIONS, built_once, run
from tests.compat.target import Server

HERE = Path(__file__).parent
SOURCE_PACKAGE = "rabbitmq-java-client"
TESTS = "com/rabbitmq/client/test"
SUITES = (f"{TESTS}/functional/FunctionalTests.java", f"{TESTS}/server/ServerTests.java")
# WorkPoolTests tests the inside of an old client. The others need a cluster, tracing, or an Erlang shell.
NOT_OURS = {"WorkPoolTests", "EffectVisibilityCrossNodeTest", "Firehose"}
PORT = 'Integer.getInteger("broker.port")'
TIMEOUT_S = 1500


def client() -> str:
    """The class path of the client and of our two programs, made once; skips where it cannot be had."""
    for tool in ("java", "javac", "mvn"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")
    home = CACHE / "amqp-java"
    programs = [HERE / "java" / "pom.xml", *sorted((HERE / "java").glob("*.java"))]
    stamp = home / f"built-{zlib.crc32(b''.join(path.read_bytes() for path in programs)):08x}"
    with built_once(stamp) as needed:
        if needed:
            shutil.rmtree(home, ignore_errors=True)
            (home / "classes").mkdir(parents=True)
            fetch = ["mvn", "-B", "-q", "-f", str(programs[0]), "dependency:copy-dependencies"]
            run([*fetch, "-DincludeScope=runtime", f"-DoutputDirectory={home / 'libs'}"], home)
            run(["javac", "-d", str(home / "classes"), "-cp", f"{home}/libs/*", *map(str, programs[1:])], home)
    return f"{home}/classes:{home}/libs/*"


def compiled(class_path: str) -> Path:
    """The client's own tests, compiled once; skips where their sources cannot be had."""
    if shutil.which("apt-get") is None:
        pytest.skip("apt-get is not installed")
    home = CACHE / "amqp-java-tests"
    with built_once(home / "built") as needed:
        if needed:
            shutil.rmtree(home, ignore_errors=True)
            (home / "classes").mkdir(parents=True)
            shutil.copytree(source(home) / "src" / "test" / "java", home / "tests")
            adapt(home / "tests")
            flags = ["-nowarn", "-proc:none", "-d", str(home / "classes"), "-cp", class_path]
            suites = [str(home / "tests" / suite) for suite in SUITES]
            run(["javac", *flags, "-sourcepath", str(home / "tests"), *suites], home)
    return home


def source(home: Path) -> Path:
    """apt's state of its own: nothing of the machine's is touched."""
    apt = home / "apt"
    for folder in ("lists/partial", "cache/archives/partial", "state"):
        (apt / folder).mkdir(parents=True)
    (apt / "status").touch()
    targets = ["apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages"]
    mirrors = subprocess.run(targets, capture_output=True, text=True).stdout.split()
    if not mirrors:
        pytest.skip("apt knows no archive")
    (apt / "sources.list").write_text(f"deb-src {mirrors[0]} stable main\n")
    options = {
        "Dir::State": apt / "state",
        "Dir::State::Lists": apt / "lists",
        "Dir::State::status": apt / "status",
        "Dir::Cache": apt / "cache",
        "Dir::Etc::sourcelist": apt / "sources.list",
        "Dir::Etc::sourceparts": "/dev/null",
        "Acquire::Languages": "none",
        "Debug::NoLocking": "1",
    }
    command = ["apt-get", "-qq", *(word for name, value in options.items() for word in ("-o", f"{name}={value}"))]
    for words in (["update"], ["source", "--download-only", "--tar-only", SOURCE_PACKAGE]):
        done = subprocess.run([*command, *words], cwd=apt, capture_output=True, text=True, timeout=300)
    archives = list(apt.glob("*.orig.tar.*"))
    if not archives:
        pytest.skip(f"{SOURCE_PACKAGE} cannot be fetched: {done.stderr[-300:]}")
    shutil.unpack_archive(archives[0], home / "source", filter="data")
    (unpacked,) = (home / "source").iterdir()
    return unpacked


def adapt(tests: Path) -> None:
    """Our port for theirs, wherever a test names one."""
    for path in tests.rglob("*.java"):
        text = path.read_text()
        text = re.sub(r"AMQP\.PROTOCOL\.PORT|\b5672\b", PORT, text)
        text = text.replace('new Address("127.0.0.1")', f'new Address("127.0.0.1", {PORT})')
        text = text.replace("extends ConnectionFactory {", f"extends ConnectionFactory {{ {{ setPort({PORT}); }}")
        if path.name == "TestUtils.java":
            made = "ConnectionFactory connectionFactory = new ConnectionFactory();"
            text = text.replace(made, f"{made} connectionFactory.setPort({PORT});")
        if path.name == "FunctionalTests.java":
            text = re.sub(r".*WorkPoolTests.*", "", text)
        path.write_text(text)


def classes(home: Path) -> list[str]:
    found = []
    for suite in SUITES:
        package = suite.rpartition("/")[0].replace("/", ".")
        members = (home / "tests" / suite).read_text().partition("SuiteClasses")[2]
        for name in re.findall(r"(\w+)\.class", members):
            if name not in NOT_OURS:
                found.append(f"com.rabbitmq.client.test.{name}" if name == "Bug20004Test" else f"{package}.{name}")
    return found


def outcomes(class_path: str, home: Path, where: Path) -> dict[str, str]:
    """CLASS.METHOD -> passed, failed or skipped."""
    settings = {"amqp.listen": "127.0.0.1:0", "http.listen": "127.0.0.1:0", "kafka.listen": "off"}
    with Server(settings=settings) as server:
        wanted = where / "restart-wanted"
        control = f"{sys.executable} {HERE / 'rabbitmqctl.py'}"
        properties = {
            "broker.port": server.amqp.rpartition(":")[2],
            "rabbitmqctl.bin": f"{control} ctl",
            "make.bin": f"{control} make",
            "rabbitmq.dir": ".",
        }
        command = ["java", *JAVA_OPTIONS, *(f"-D{name}={value}" for name, value in properties.items())]
        command += ["-cp", f"{home}/classes:{class_path}", "Suite", *classes(home)]
        environment = {**os.environ, "TWINLOG_SUITE_HTTP": server.http, "TWINLOG_SUITE_RESTART": str(wanted)}
        with (where / "said").open("w") as said, (where / "outcomes").open("w") as told:
            running = subprocess.Popen(command, env=environment, stdout=told, stderr=said)
            deadline = time.monotonic() + TIMEOUT_S
            try:
                while running.poll() is None and time.monotonic() < deadline:
                    if wanted.exists():
                        server.restart()
                        wanted.unlink()
                    time.sleep(0.05)
            finally:
                running.kill()
                running.wait()
        assert server.alive(), server.log[-4000:]
    found = (line.split() for line in (where / "outcomes").read_text().splitlines())
    return {words[1]: words[0] for words in found if len(words) == 2 and words[0] in ("passed", "failed", "skipped")}
