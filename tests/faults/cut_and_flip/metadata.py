"""The metadata log: topics, configs, brokers. What starts has all that was promised, or nothing starts."""

from __future__ import annotations

from tests.faults.cut_and_flip.damage import Damage, Subject, everywhere
from tests.kit.metadata_disk import MetadataNode, lived
from tests.kit.storage import restore
from twinlog.base import HostFault


def spoilt(*, snapshots: bool) -> Subject:
    files, images = lived(300 if snapshots else 1 << 20)
    assert any(path.endswith(".snapshot") for path in files) == snapshots

    def judge(files: dict[str, bytes], damage: Damage) -> list[str]:
        machine = restore(files)
        before = machine.copy_tree("data")
        for _ in range(2):
            try:
                node = MetadataNode(machine)
            except HostFault:
                assert machine.copy_tree("data") == before, "a start that is refused changes nothing"
                machine.kill()
                continue
            break
        else:
            return ["refused"]
        assert machine.boots == 1, "what was refused once is not opened the next time"
        assert node.log.image == images[-1], "something was promised and is not there"
        node.create("after")
        machine.settle()
        machine.cut_power()
        again = MetadataNode(machine)
        assert again.log.image == node.log.image and "after" in again.log.image.topics_by_name, (
            "the second start differs"
        )
        return ["served"]

    return Subject("metadata-snapshots" if snapshots else "metadata", files, everywhere(files), judge)
