"""Files of the first format are read for ever: docs/formats/queue-store.md."""

from __future__ import annotations

from pathlib import Path

from tests.kit.queues import DIRECTORY, TINY, StoreHome
from tests.kit.storage import restore

GOLDEN = Path(__file__).parents[3] / "golden" / "queues" / "store-1.txt"


def made() -> dict[str, bytes]:
    """Two queues; messages in segments, some of them settled; a journal; a clean stop."""
    home = StoreHome(TINY)
    home.store.create(1, durable=True)
    home.store.create(2, durable=True)
    for number in range(0, 40, 2):
        home.durable(home.put(1, number, [b"%d " % (number + at) + b"x" * 300 for at in range(2)]))
    home.store.settle(1, 3, 4)
    home.store.settle(1, 7, 7)
    for number in range(20):
        home.durable(home.put(2, number, [b"%d " % number + b"y" * 300]))
        home.store.settle(2, number, number)
    home.durable(home.put(2, 20, [b"last"]))
    home.store.delivered_below(1, 9)
    home.settle(3000)
    home.store.close()
    return home.machine.copy_tree(DIRECTORY)


def test_what_was_written_once_is_written_still() -> None:
    lines = [f"{path.rpartition('/')[2]} {data.hex()}" for path, data in sorted(made().items())]
    assert GOLDEN.read_text().splitlines() == lines, f"write it anew only for a new version: {GOLDEN}"


def test_what_was_written_once_is_read_still() -> None:
    pairs = (line.split(" ") for line in GOLDEN.read_text().splitlines())
    home = StoreHome(TINY, restore({f"{DIRECTORY}/{name}": bytes.fromhex(data) for name, data in pairs}))
    found = home.store.recovered()
    assert list(found[1].ready) == [(0, 2), (5, 6), (8, 39)] and list(found[2].ready) == [(20, 20)]
    assert (found[1].redelivered_below, found[1].number_next, found[2].number_next) == (9, 40, 21)
    home.store.create(1, durable=True)
    assert [number for number, _ in home.read_all(1)] == [0, 1, 2, 5, 6, *range(8, 40)]
