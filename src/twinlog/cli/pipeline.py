"""``twinlog pipeline`` and ``twinlog doctor spark``. Spark is imported only when needed."""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from twinlog.cli.door import SocketDoor
from twinlog.cli.ending import fail
from twinlog.cli.nouns.shared import harmless
from twinlog.cli.options import BOOTSTRAP_DEFAULT, Bootstrap, Json, addresses, connected, print_json, print_table
from twinlog.cli.pipeline_view import pipeline_view
from twinlog.client import Client, ClientError
from twinlog.client.pipelines import forget as forget_report
from twinlog.client.pipelines import reports

app = typer.Typer(help="Run pipelines on Spark: topics in, topics or tables out.", no_args_is_help=True)

File = Annotated[Path, typer.Argument(metavar="FILE.toml", help="The pipeline's file.", show_default=False)]
Master = Annotated[str, typer.Option("--master", help="Spark's master: local[*], spark://..., yarn, k8s://...")]
Remote = Annotated[str, typer.Option("--remote", help="A Spark Connect server: sc://HOST:PORT.")]
ASK_MS: Final = 3000
SILENT_MS: Final = 30_000
INSTALL: Final = 'Install it by: pip install "twinlog[spark]"'


def _spark_side() -> Any:
    try:
        import pyspark_twinlog.pipelines
    except ImportError as missing:
        fail(f"pipelines need PySpark, and {missing.name} is not installed", INSTALL)
    return pyspark_twinlog.pipelines


def _loaded(side: Any, path: Path) -> Any:
    try:
        return side.load(path)
    except side.SpecWrong as wrong:
        fail(str(wrong), "`twinlog pipeline init NEW.toml` writes a file to begin with.", code=2)


@app.command()
def init(
    file: File,
    kind: Annotated[str, typer.Option("--kind", "-k", help="Which kind of pipeline.")] = "aggregate",
    bootstrap: Bootstrap = BOOTSTRAP_DEFAULT,
) -> None:
    """Write a file to begin with."""
    side = _spark_side()
    if kind not in side.TEMPLATES:
        fail(f"there is no kind {kind!r}", f"There are {', '.join(side.TEMPLATES)}.", code=2)
    try:
        with open(file, "x", encoding="utf-8") as made:
            made.write(side.template(kind, file.stem, bootstrap))
    except FileExistsError:
        fail(f"{file} is there already", "Name another file.", code=2)
    except OSError as fault:
        fail(f"{file}: {fault.strerror}", "")
    print(f"Wrote {file}. Check it by `twinlog pipeline dry-run {file}`, start it by `twinlog pipeline run {file}`.")


@app.command("list")
def list_command(
    directory: Annotated[Path, typer.Argument(help="Where the files are.")] = Path("."),
    bootstrap: Bootstrap = BOOTSTRAP_DEFAULT,
    json: Json = False,
) -> None:
    """Show the pipelines of a directory and how far they are, and those that report to the broker."""
    side = _spark_side()
    files = []
    for path in sorted(directory.glob("*.toml")):
        try:
            files.append((path, side.load(path)))
        except side.SpecWrong:
            continue
    known = _reports(bootstrap)
    if json:
        print_json({"files": [{"file": str(path), "name": each.name} for path, each in files], "reports": known or {}})
        return
    rows = []
    for path, pipeline in files:
        state = side.state_of(pipeline)
        told = "; ".join(f"{query}: batch {batch} at {at}" for query, batch, at in state) or "never ran"
        sources = ", ".join(each.topic or each.pattern or each.table for each in pipeline.sources)
        rows.append([path.name, pipeline.name, pipeline.transform.kind, sources, pipeline.sink.type, told])
    if rows:
        print_table(["FILE", "NAME", "KIND", "FROM", "TO", "CHECKPOINT"], rows)
    if known is None:
        print(f"No broker answers at {bootstrap}: what runs is not known.", file=sys.stderr)
    elif known:
        print_table(["REPORTED", "STATE", "BATCH", "ROWS/S", "LAG", "SINCE", "LAST ERROR"], _reported(known))
    elif not rows:
        print("There are none here, and none has reported.")


def _reports(bootstrap: str) -> dict[str, dict[str, Any]] | None:
    """By name; None where there is no broker to ask."""
    try:
        with Client(addresses(bootstrap), SocketDoor(), client_id="twinlog-cli", timeout_ms=ASK_MS) as client:
            return reports(client)
    except ClientError:
        return None


def _reported(known: dict[str, dict[str, Any]]) -> list[list[object]]:
    now_ms = SocketDoor().now_ms()
    rows: list[list[object]] = []
    for name, report in known.items():
        lag = report.get("lag")
        silent_ms = max(0, now_ms - int(report.get("reported_ms") or 0))
        state = str(report["state"])
        if state in ("starting", "running") and silent_ms > SILENT_MS:
            state = f"{state}?"  # it has not said so for a while, and may be dead
        since = f"{silent_ms // 1000} s ago"
        figures = [report.get("batch_id"), report.get("rows_per_second"), lag.get("total") if lag else None]
        shown = ["-" if each is None else f"{each:,.0f}" for each in figures]
        rows.append([harmless(name), harmless(state), *shown, since, harmless(report.get("last_error") or "")])
    return rows


@app.command()
def forget(
    name: Annotated[str, typer.Argument(help="The pipeline's name.")], bootstrap: Bootstrap = BOOTSTRAP_DEFAULT
) -> None:
    """Take a pipeline out of the list of those that have reported. One that runs comes back."""
    with connected(bootstrap) as client:
        if name not in reports(client):
            fail(f"no pipeline {name!r} has reported", "See `twinlog pipeline list`.")
        forget_report(client, name)
    print(f"Forgot {name}.")


@app.command("dry-run")
def dry_run(file: File, master: Master = "local[1]", remote: Remote = "") -> None:
    """Check a pipeline against the cluster; start and write nothing."""
    side = _spark_side()
    pipeline = _loaded(side, file)
    with side.session_for(pipeline, master, remote) as spark:
        _quiet(spark)
        try:
            plan = side.dry_run(spark, pipeline)
        except Exception as wrong:
            fail(f"{pipeline.name} would not run: {side.reason_of(wrong)}", "")
    for name, columns in plan.source_columns.items():
        print(f"{name}: {', '.join(each for each in columns if not each.startswith('_'))}")
    print(f"result: {', '.join(each for each in plan.result_columns if not each.startswith('_'))}")
    print("Nothing was started.")


@app.command()
def run(file: File, master: Master = "local[*]", remote: Remote = "") -> None:
    """Run a pipeline until it is done, or until Ctrl-C or SIGTERM."""
    side = _spark_side()
    pipeline = _loaded(side, file)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with pipeline_view(pipeline.name) as view:
        try:
            view.say(f"{pipeline.name}: starting Spark, trigger {pipeline.trigger}. Ctrl-C ends it without loss.")
            with side.session_for(pipeline, master, remote) as spark:
                _quiet(spark)
                side.run(spark, pipeline, view.show)
        except KeyboardInterrupt:
            view.close()
            print(f"{pipeline.name}: ended; the next run goes on from here.", file=sys.stderr)
            raise typer.Exit(130) from None
        except Exception as wrong:
            view.close()
            told = side.reason_of(wrong)
            fail(f"{pipeline.name} failed: {told}", "The next run begins with the batch that failed.")
    print(f"{pipeline.name}: done, {view.rows_in} rows read, {view.rows_out} written.")


def _quiet(spark: Any) -> None:
    try:
        spark.sparkContext.setLogLevel("OFF")
    except Exception:  # over Spark Connect there is no context; its server has a log of its own
        return


def doctor_spark() -> None:
    """Say what the Spark side needs and what is missing here."""
    try:
        from pyspark_twinlog.session import examine
    except ImportError as missing:
        fail(f"{missing.name} is not installed", INSTALL)
    findings = examine()
    for each in findings:
        sign = "ok     " if not each.advice else "MISSING" if each.needed else "without"
        print(f"{sign}  {each.what}: {each.found}" + (f"  -> {each.advice}" if each.advice else ""))
    if any(each.advice and each.needed for each in findings):
        raise typer.Exit(1)
