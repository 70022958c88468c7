"""Whose a data directory is, and how it was left.

``identity`` names the format, the cluster, the node and the directory itself, as text that a person can read, with a
checksum. It is written once, when the directory is empty. ``clean`` is the marker of a clean stop: it carries the
incarnation that stopped, and is removed before anything else changes. ``lock`` is held while a broker runs.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from twinlog._kernel import crc32c
from twinlog.host import Disk
from twinlog.storage.errors import Damaged, WrongDirectory
from twinlog.storage.files import read_whole, write_whole

FORMAT: Final = 1
IDENTITY: Final = "identity"
CLEAN: Final = "clean"


class Identity(NamedTuple):
    """Of one data directory. Ids are 16 bytes."""

    cluster_id: bytes
    node_id: int
    directory_id: bytes


def encode_fields(title: str, fields: dict[str, str]) -> bytes:
    text = "".join(f"{name}={value}\n" for name, value in {"file": title, "format": str(FORMAT), **fields}.items())
    data = text.encode()
    return data + f"checksum={crc32c(data):08x}\n".encode()


def decode_fields(title: str, data: bytes, path: str) -> dict[str, str]:
    """The fields of a small text file; ``Damaged`` when a byte is wrong, ``WrongDirectory`` when it is from a later
    release."""
    body, _, last = data.rpartition(b"checksum=")
    if last != f"{crc32c(body):08x}\n".encode():
        raise Damaged(path, "its checksum is wrong")
    fields = dict(line.split("=", 1) for line in body.decode().splitlines())
    if fields.get("file") != title:
        raise Damaged(path, f"is no {title} file")
    if fields.get("format") != str(FORMAT):
        raise WrongDirectory(path, f"has format {fields.get('format')}, this release reads {FORMAT}")
    return fields


def write_identity(disk: Disk, directory: str, identity: Identity) -> None:
    fields = {
        "cluster": identity.cluster_id.hex(),
        "node": str(identity.node_id),
        "directory": identity.directory_id.hex(),
    }
    write_whole(disk, f"{directory}/{IDENTITY}", encode_fields(IDENTITY, fields))


def read_identity(disk: Disk, directory: str) -> Identity | None:
    """None when the directory has none yet."""
    path = f"{directory}/{IDENTITY}"
    data = read_whole(disk, path)
    if data is None:
        return None
    fields = decode_fields(IDENTITY, data, path)
    return Identity(bytes.fromhex(fields["cluster"]), int(fields["node"]), bytes.fromhex(fields["directory"]))


def write_clean(disk: Disk, directory: str, incarnation: bytes) -> None:
    fields = {"incarnation": incarnation.hex()}
    write_whole(disk, f"{directory}/{CLEAN}", encode_fields(CLEAN, fields))


def take_clean(disk: Disk, directory: str) -> bytes | None:
    """The incarnation that stopped clean here, and removes the marker for good; None after a crash."""
    path = f"{directory}/{CLEAN}"
    data = read_whole(disk, path)
    if data is None:
        return None
    disk.delete(path)
    disk.sync_directory_now(directory)
    try:
        return bytes.fromhex(decode_fields(CLEAN, data, path)["incarnation"])
    except Damaged:
        return None  # then nothing is taken on trust
