"""All commands but ``serve``, which only has its line in the overview here."""

from __future__ import annotations

from typing import Annotated

import typer

from twinlog import __version__
from twinlog.cli import config, group, log, messages, nouns, quota, topic, txn
from twinlog.cli.consume import consume
from twinlog.cli.doctor import doctor
from twinlog.cli.init import init
from twinlog.cli.pipeline import app as pipeline_app
from twinlog.cli.produce import produce
from twinlog.cli.top import top

app = typer.Typer(
    help="Twinlog: one broker for Kafka and RabbitMQ clients, over one log.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True)
def overview(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        print(f"twinlog {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        print(context.get_help())


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True}, add_help_option=False)
def serve(context: typer.Context) -> None:
    """Start a broker and serve until Ctrl-C."""
    from twinlog.cli.serve import serve_command

    raise typer.Exit(serve_command(context.args))


app.command()(init)
app.command(short_help="Show live what the broker does.")(top)
app.command(short_help="Write each line of the input as a record.")(produce)
app.command()(consume)
app.command(short_help="Publish messages, each confirmed.")(messages.publish)
app.command()(messages.get)
app.command("consume-queue")(messages.consume_queue)
app.add_typer(topic.app, name="topic")
app.add_typer(group.app, name="group")
app.add_typer(txn.app, name="txn")
app.add_typer(quota.app, name="quota")
app.add_typer(config.app, name="config")
app.add_typer(log.app, name="log")
app.add_typer(pipeline_app, name="pipeline")
app.command(short_help="Check a node and its machine, and say what to do.")(doctor)
for noun, noun_app in nouns.APPS.items():
    app.add_typer(noun_app, name=noun)
