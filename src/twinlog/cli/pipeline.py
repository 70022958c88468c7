"""``twinlog pipeline`` and ``twinlog doctor spark``. Spark is imported only when needed."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from twinlog.cli.ending import fail
from twinlog.cli.options import BOOTSTRAP_DEFAULT, Bootstrap, print_table

app = typer.Typer(help="Run pipelines on Spark: topics in, topics or tables out.", no_args_is_help=True)

File = Annotated[Path, typer.Argument(metavar="FILE.toml", help="The pipeline's file.", show_default=False)]
Master = Annotated[str, typer.Option("--master", help="Spark's master: local[*], spark://..., yarn, k8s://...")]
Remote = Annotated[str, typer.Option("--remote", help="A Spark Connect server: sc://HOST:PORT.")]
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
) -> None:
    """Show the pipelines of a directory, and how far they are."""
    side = _spark_side()
    rows = []
    for path in sorted(directory.glob("*.toml")):
        try:
            pipeline = side.load(path)
        except side.SpecWrong:
            continue
        state = side.state_of(pipeline)
        told = "; ".join(f"{query}: batch {batch} at {at}" for query, batch, at in state) or "never ran"
        sources = ", ".join(each.topic or each.pattern or each.table for each in pipeline.sources)
        rows.append([path.name, pipeline.name, pipeline.transform.kind, sources, pipeline.sink.type, told])
    print_table(["FILE", "NAME", "KIND", "FROM", "TO", "STATE"], rows)


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
            fail(f"{pipeline.name} would not run: {_first_lines(wrong)}", "")
    for name, columns in plan.source_columns.items():
        print(f"{name}: {', '.join(each for each in columns if not each.startswith('_'))}")
    print(f"result: {', '.join(each for each in plan.result_columns if not each.startswith('_'))}")
    print("Nothing was started.")


@app.command()
def run(file: File, master: Master = "local[*]", remote: Remote = "") -> None:
    """Run a pipeline until it is done, or until Ctrl-C."""
    side = _spark_side()
    pipeline = _loaded(side, file)
    rows = 0

    def show(query: str, progress: Any) -> None:
        nonlocal rows
        rows += progress.rows
        print(
            f"{query}: batch {progress.batch}, {progress.rows} rows in {progress.batch_ms} ms "
            f"({progress.rows_a_second:,.0f} rows/s), lag {progress.lag}",
            flush=True,
        )

    try:
        with side.session_for(pipeline, master, remote) as spark:
            _quiet(spark)
            print(f"{pipeline.name}: started, trigger {pipeline.trigger}. Ctrl-C ends it without loss.", flush=True)
            side.run(spark, pipeline, show)
    except KeyboardInterrupt:
        print(f"{pipeline.name}: ended; the next run goes on from here.", file=sys.stderr)
        raise typer.Exit(130) from None
    except Exception as wrong:
        fail(f"{pipeline.name} failed: {_first_lines(wrong)}", "The next run begins with the batch that failed.")
    print(f"{pipeline.name}: done, {rows} rows read.")


def _quiet(spark: Any) -> None:
    try:
        spark.sparkContext.setLogLevel("OFF")
    except Exception:  # over Spark Connect there is no context; its server has a log of its own
        return


def _first_lines(wrong: Exception) -> str:
    """The reason, without Spark's and Python's traces around it."""
    lines = [line.strip() for line in str(wrong).splitlines() if line.strip()]
    ours = [
        line.split("pyspark_twinlog.", 1)[1].split(": ", 1)[-1] for line in lines if "pyspark_twinlog.errors." in line
    ]
    return (ours[-1] if ours else " ".join(lines[:2]))[:600]


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
