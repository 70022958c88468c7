"""``twinlog doctor``: looks at what a node needs from its machine, and says what to do."""

from __future__ import annotations

import fcntl
import os
import resource
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Final, NamedTuple

import typer

from twinlog.app.alarms import memory_total_bytes
from twinlog.app.settings import NodeSettings
from twinlog.app.sources import SettingsError, choose
from twinlog.base import HostFault
from twinlog.cli.ending import fail
from twinlog.cli.options import Json, print_json
from twinlog.cli.pipeline import doctor_spark
from twinlog.host.local.disk import LocalDisk
from twinlog.storage import WrongDirectory
from twinlog.storage.directory import key_of, room_to_keep
from twinlog.storage.identity import read_identity
from twinlog.storage.inspection import SegmentReading
from twinlog.storage.marks import decode_marks
from twinlog.storage.segment import Segment, segment_of

OK, NOTE, WRONG = "ok", "note", "WRONG"
DESCRIPTORS_WANTED: Final = 10_000
CLOCK_OLDEST_S: Final = 1_700_000_000  # nobody's clock is right that shows an earlier time
CLOCK_SLACK_S: Final = 60
FORGETFUL: Final = ("tmpfs", "ramfs", "overlay")
REMOTE: Final = ("nfs", "nfs4", "cifs", "smb3", "9p", "fuse.sshfs")


class Finding(NamedTuple):
    level: str
    what: str
    advice: str = ""


def doctor(
    part: Annotated[str, typer.Argument(metavar="[spark]", help="Look at what the Spark side needs instead.")] = "",
    data_dir: Annotated[str, typer.Option("--data-dir", metavar="DIR", help="Of the node to look at.")] = "",
    settings: Annotated[str, typer.Option("--settings", metavar="FILE", help="The node's TOML file.")] = "",
    assign: Annotated[list[str], typer.Option("--set", metavar="NAME=VALUE", help="As `serve --set`.")] = [],  # noqa: B006
    deep: Annotated[bool, typer.Option("--deep", help="Also read every segment whole.")] = False,
    json: Json = False,
) -> None:
    """Check data directory, limits, disk and clock, and say what to do. Changes nothing; the node may be running."""
    if part:
        if part != "spark":
            fail(f"there is nothing to look at by the name {part!r}", "Ask for `doctor` or `doctor spark`.", code=2)
        doctor_spark()
        return
    flags = {"--data-dir": data_dir} if data_dir else {}
    try:
        chosen = choose(file=settings or None, environment=os.environ, flags=flags, assignments=assign).settings()
    except SettingsError as wrong:
        fail(str(wrong), "Correct it there, then ask again.", code=2)
    findings: list[Finding] = []
    for finding in examine(chosen, deep=deep):
        findings.append(finding)
        if not json:
            print(f"{finding.level:<6} {finding.what}")
            if finding.advice:
                print(f"       {finding.advice}")
    if json:
        print_json([finding._asdict() for finding in findings])
    if any(finding.level == WRONG for finding in findings):
        raise typer.Exit(1)


def examine(settings: NodeSettings, *, deep: bool) -> Iterator[Finding]:
    yield from look_at_limits(settings)
    yield from look_at_memory(settings)
    yield from look_at_clock()
    for path in [settings.identity.data_dir, *settings.identity.more_data_dirs]:
        yield from look_at_directory(path, settings, deep=deep)


def look_at_limits(settings: NodeSettings) -> Iterator[Finding]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    allowed = hard if hard > 0 else soft  # the node raises it as far as it may
    wanted = min(settings.storage.files_open_max + settings.kafka.connections_max, 10 * DESCRIPTORS_WANTED)
    if 0 <= allowed < DESCRIPTORS_WANTED:
        yield Finding(WRONG, f"only {allowed} files and connections may be open", "Raise `ulimit -Hn`, or LimitNOFILE.")
    elif 0 <= allowed < wanted:
        yield Finding(
            NOTE,
            f"{allowed} files and connections may be open; the settings ask for up to {wanted}",
            "Raise LimitNOFILE, or lower storage.files_open_max and kafka.connections_max.",
        )
    else:
        yield Finding(OK, f"{allowed} files and connections may be open")
    yield Finding(OK, f"connections: at most {min(settings.kafka.connections_max, allowed * 8 // 10)} Kafka clients")


def look_at_memory(settings: NodeSettings) -> Iterator[Finding]:
    total = memory_total_bytes()
    wanted = settings.memory.connections_max_bytes
    one, request = settings.memory.connection_max_bytes, settings.kafka.request_size_max_bytes
    if 0 < total < wanted:
        yield Finding(
            NOTE,
            f"connections may hold {wanted} bytes of memory, and the machine has {total}",
            "Lower memory.connections_max_bytes; 0 takes a quarter of what there is.",
        )
    if 0 < one < 2 * request:
        yield Finding(
            WRONG,
            f"a connection may hold {one} bytes of memory, and a request may have {request}",
            "Raise memory.connection_max_bytes to twice kafka.request_size_max_bytes, or lower the latter.",
        )
    else:
        yield Finding(OK, f"memory: connections hold at most {wanted or total // 4} bytes")


def look_at_clock() -> Iterator[Finding]:
    now_s = time.time()
    if now_s < CLOCK_OLDEST_S:
        yield Finding(WRONG, f"the clock says {time.ctime(now_s)}", "Set it and let NTP keep it: retention goes by it.")
    else:
        yield Finding(OK, f"the clock says {time.strftime('%Y-%m-%d %H:%M:%S', time.gmtime(now_s))} UTC")


def look_at_directory(path: str, settings: NodeSettings, *, deep: bool) -> Iterator[Finding]:
    place = Path(path)
    if not place.exists():
        parent = next(each for each in place.absolute().parents if each.exists())
        if os.access(parent, os.W_OK):
            yield Finding(OK, f"{path}: not there yet; the first start makes it")
        else:
            yield Finding(WRONG, f"{path}: cannot be made in {parent}", f"Make it: mkdir -p {path}")
        return
    if not place.is_dir():
        yield Finding(WRONG, f"{path}: is no directory", "Name another one by --data-dir.")
        return
    if not os.access(place, os.R_OK | os.W_OK | os.X_OK):
        yield Finding(WRONG, f"{path}: may not be read and written", f"chown it to the user that runs the node: {path}")
        return
    yield from look_at_disk(path, settings)
    disk = LocalDisk(None)  # type: ignore[arg-type]  # nothing is synced
    yield from look_at_owner(disk, path, settings)
    yield from look_at_logs(disk, path, deep=deep)


def look_at_disk(path: str, settings: NodeSettings) -> Iterator[Finding]:
    status = os.statvfs(path)
    free, total = status.f_bavail * status.f_frsize, status.f_blocks * status.f_frsize
    low_mark = room_to_keep(total, settings.storage)
    if free < low_mark:
        yield Finding(
            WRONG,
            f"{path}: {size(free)} of {size(total)} are free; below {size(low_mark)} records are refused",
            "Free some room, lower retention.ms or retention.bytes of a topic, or lower storage.disk_low_bytes.",
        )
    elif free < 2 * low_mark:
        yield Finding(
            NOTE, f"{path}: {size(free)} of {size(total)} are free; records are refused below {size(low_mark)}"
        )
    else:
        yield Finding(OK, f"{path}: {size(free)} of {size(total)} are free")
    if status.f_files and status.f_favail < DESCRIPTORS_WANTED:
        yield Finding(WRONG, f"{path}: only {status.f_favail} more files fit", "The file system has too few inodes.")
    kind = file_system(path)
    if kind in FORGETFUL:
        yield Finding(NOTE, f"{path}: lies on {kind}, which forgets everything when the machine or container stops")
    elif kind in REMOTE:
        yield Finding(NOTE, f"{path}: lies on {kind}; a sync there may not be what it is on a local disk")


def look_at_owner(disk: LocalDisk, path: str, settings: NodeSettings) -> Iterator[Finding]:
    try:
        identity = read_identity(disk, path)
    except (HostFault, WrongDirectory) as wrong:
        yield Finding(WRONG, f"{path}: {wrong}", "Nothing was changed. Restore `identity` from a backup.")
        return
    if identity is None:
        yield Finding(OK, f"{path}: is new")
    elif identity.node_id != settings.identity.id:
        yield Finding(
            WRONG, f"{path}: belongs to node {identity.node_id}", f"Start it with --set node.id={identity.node_id}."
        )
    else:
        yield Finding(OK, f"{path}: belongs to node {identity.node_id}")
    if is_locked(path):
        yield Finding(OK, f"{path}: a node is running on it")
    elif identity is not None and not (Path(path) / "clean").exists():
        yield Finding(NOTE, f"{path}: the last run did not stop clean; the next start checks the end of every log")


def look_at_logs(disk: LocalDisk, path: str, *, deep: bool) -> Iterator[Finding]:
    logs = Path(path) / "logs"
    if not logs.is_dir():
        return
    marks = decode_marks((Path(path) / "marks").read_bytes() if (Path(path) / "marks").exists() else None)
    if not marks.whole:
        yield Finding(
            WRONG,
            f"{path}: `marks` is damaged",
            "The next start refuses what it cannot prove. Keep a copy.",
        )
    count = total = 0
    now_s = time.time()
    for each in sorted(logs.iterdir()):
        key = key_of(each.name)
        if key is None:
            yield Finding(NOTE, f"{each}: is none of ours, and left alone")
            continue
        count += 1
        for fault in faults_of(disk, each, deep=deep):
            yield Finding(WRONG, fault, "Keep the files. `twinlog log inspect` shows what can be read.")
        for file in each.iterdir():
            status = file.stat()
            total += status.st_size
            if status.st_mtime > now_s + CLOCK_SLACK_S:
                yield Finding(WRONG, f"{file}: was written in the future", "The clock was set back: see to NTP.")
                break
    yield Finding(OK, f"{path}: {count} logs, {size(total)}{', every batch read' if deep else ''}")


def faults_of(disk: LocalDisk, directory: Path, *, deep: bool) -> Iterator[str]:
    found = [segment_of(str(directory), file.name.removesuffix(".log")) for file in sorted(directory.glob("*.log"))]
    segments = sorted(
        (each for each in found if each is not None), key=lambda each: (each.offset_base, -each.generation)
    )
    kept: list[Segment] = []
    for segment in segments:
        if kept and segment.offset_base < kept[-1].offset_limit:
            continue  # replaced by a compacted one, and about to go
        if kept and kept[-1].is_compacted and segment.offset_base != kept[-1].offset_limit:
            yield f"{segment.path}: does not begin where the one before ends"
        kept.append(segment)
    for segment in kept if deep else ():
        reading = SegmentReading(disk, segment.path)
        for _ in reading:
            pass
        for fault in reading.faults:
            yield f"{segment.path}: {fault}"


def is_locked(path: str) -> bool:
    try:
        fd = os.open(f"{path}/lock", os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(fd)
    return False


def file_system(path: str) -> str:
    """The type of the file system, where the machine tells."""
    try:
        mounts = [line.split() for line in Path("/proc/mounts").read_text().splitlines()]
    except OSError:
        return ""
    real = os.path.realpath(path)
    on = [
        (len(mount[1]), mount[2]) for mount in mounts if real == mount[1] or real.startswith(mount[1].rstrip("/") + "/")
    ]
    return max(on)[1] if on else ""


def size(count: float) -> str:
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if count < 1024 or unit == "GiB":
            return f"{count:.0f} {unit}" if unit == "bytes" else f"{count:.1f} {unit}"
        count /= 1024
    return ""
