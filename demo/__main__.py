"""Orders arrive over AMQP and over Kafka; pipelines on Spark aggregate and archive them; what they made is checked.

python -m demo [--seconds 40] [--keep FOLDER]
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import tempfile
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.live import Live
from rich.table import Table

from demo.checks import Check, checks
from demo.shops import TOPICS, Books, open_queue, sell_at_the_till, sell_on_the_web
from pyspark_twinlog import twinlog_session
from pyspark_twinlog.pipelines import Pipeline, Status, load, reason_of, run
from twinlog.base.address import parse_address
from twinlog.cli.door import SocketDoor
from twinlog.client import Client, ClientError, Groups
from twinlog.client.blocking import LATEST
from twinlog.testing import Broker

HERE: Final = Path(__file__).resolve().parent
DRAIN_S: Final = 120.0


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m demo", description=__doc__)
    parser.add_argument("--seconds", type=float, default=40.0, help="how long orders arrive")
    parser.add_argument("--keep", type=Path, help="a folder for the data and the archive; else they go at the end")
    arguments = parser.parse_args()
    console = Console()
    with contextlib.ExitStack() as stack:
        home = arguments.keep or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="twinlog-demo-")))
        home.mkdir(parents=True, exist_ok=True)
        listen = {"amqp.listen": "127.0.0.1:0", "http.listen": "127.0.0.1:0"}
        broker = stack.enter_context(Broker(home / "broker", settings=listen))
        console.print(f"A broker: Kafka at {broker.kafka}, AMQP at {broker.amqp}, console at http://{broker.http}")
        console.print("Starting Spark, which takes some seconds ...")
        java = "-XX:+UseParallelGC -Xss8m"
        settings = {
            "spark.ui.enabled": "false", "spark.driver.memory": "1g", "spark.driver.extraJavaOptions": java,
        }  # fmt: skip
        spark = twinlog_session("demo", "local[2]", settings=settings)
        stack.callback(spark.stop)
        spark.sparkContext.setLogLevel("OFF")
        books = play(console, broker, spark, home, arguments.seconds)
        found = checks(books, broker.kafka, home)
    print_results(console, found)
    sys.exit(0 if all(each.holds for each in found) else 1)


def play(console: Console, broker: Broker, spark: Any, home: Path, seconds: float) -> Books:
    """Sells for a while with both pipelines running, and lets them read to the end."""
    books = Books()
    with Client([parse_address(broker.kafka)], SocketDoor()) as client:
        for name, partitions in (("web-orders", 3), ("revenue", 1), ("orders-dead", 1), ("archive-dead", 1)):
            client.create_topic(name, partitions)
        open_queue(broker.amqp)
        pipelines = [
            replace(load(HERE / f"{name}.toml"), bootstrap=broker.kafka, home=home) for name in ("revenue", "archive")
        ]
        over, statuses, failures = threading.Event(), {}, []
        threads = [Running(spark, each, over, statuses, failures) for each in pipelines]
        shops = [
            threading.Thread(target=sell, args=(address, books, seconds), daemon=True)
            for sell, address in ((sell_on_the_web, broker.kafka), (sell_at_the_till, broker.amqp))
        ]
        for each in threads:
            each.start()
            while each.is_alive() and each.name not in statuses:
                time.sleep(0.1)
            while each.is_alive() and statuses[each.name].state == "starting":
                time.sleep(0.1)
        for each in shops:
            each.start()
        with Live(get_renderable=lambda: board(books, statuses), console=console, refresh_per_second=4):
            for each in shops:
                each.join()
            deadline_s = time.monotonic() + DRAIN_S
            while not failures and not all(is_drained(client, each) for each in pipelines):
                if time.monotonic() > deadline_s:
                    failures.append(RuntimeError(f"the pipelines did not read everything within {DRAIN_S:.0f} s"))
                time.sleep(0.2)
            over.set()
            for each in threads:
                each.join()
    if failures:
        console.print(f"A pipeline failed: {reason_of(failures[0])}", style="red")
        sys.exit(1)
    return books


class Running(threading.Thread):
    """A pipeline, until it is over."""

    def __init__(
        self, spark: Any, pipeline: Pipeline, over: threading.Event, statuses: dict[str, Status], failures: list[Any]
    ) -> None:
        super().__init__(name=pipeline.name, daemon=True)
        self._spark, self._pipeline, self._over = spark, pipeline, over
        self._statuses, self._failures = statuses, failures

    def run(self) -> None:
        def show(status: Status) -> None:
            self._statuses[status.name] = status

        try:
            run(self._spark, self._pipeline, show, self._over.is_set)
        except Exception as wrong:
            self._failures.append(wrong)


def is_drained(client: Client, pipeline: Pipeline) -> bool:
    """What every tool for consumer groups would say: that the pipeline's group has no lag."""
    try:
        stored = Groups(client).offsets(pipeline.sources[0].group)
        for topic in TOPICS:
            partitions = [each.index for each in client.topic(topic).partitions]
            for partition, end in client.offsets(topic, partitions, LATEST).items():
                place = stored.get((topic, partition))
                if end and (place is None or place.offset < end):
                    return False
    except ClientError:
        return False
    return True


def board(books: Books, statuses: dict[str, Status]) -> Table:
    sold = f"{books.count('web')} orders over Kafka, {books.count('till')} over AMQP, {len(books.bad)} that are none"
    table = Table(title=sold, title_justify="left", box=None, pad_edge=False)
    for name in ("PIPELINE", "STATE", "BATCH", "ROWS/S", "LAG", "BATCH TIME"):
        table.add_column(name, justify="left" if name in ("PIPELINE", "STATE") else "right")
    for name, status in sorted(statuses.items()):
        main = status.main
        cells = (
            [str(main.batch), f"{main.rows_a_second:,.0f}", str(main.lag_total), f"{main.batch_ms:,} ms"]
            if main
            else []
        )
        table.add_row(name, status.state, *cells)
    return table


def print_results(console: Console, found: list[Check]) -> None:
    for each in found:
        console.print(("[green]right[/] " if each.holds else "[red]WRONG[/] ") + each.text)


if __name__ == "__main__":
    main()
