"""What only the real disk can show: failing syncs, descriptors, cold pages."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from tests.kit.hosts import synced
from twinlog.base.errors import DiskFull, HostFault
from twinlog.host import Host
from twinlog.host.local import run, system_calls
from twinlog.host.local.disk import LocalDisk
from twinlog.host.local.file import LocalFile
from twinlog.host.local.sync import QUICK_NS, SYNCFS_FROM_FILES

NEVER_SYNCS = "/dev/full"  # a device that takes no bytes, and whose sync is an error


def on_disk(work: Callable[[Host, LocalDisk], Coroutine[Any, Any, None]]) -> None:
    async def main(host: Host) -> None:
        assert isinstance(host.disk, LocalDisk)
        await work(host, host.disk)

    run(main)


def heal(file: LocalFile, healthy: LocalFile) -> None:
    """From now on a sync of ``file`` would work, if anybody tried."""
    os.dup2(healthy.fd, file.fd)


@pytest.mark.parametrize("others", [0, 2, SYNCFS_FROM_FILES - 2])
def test_a_failed_sync_is_never_tried_again(tmp_path: Path, others: int) -> None:
    async def work(host: Host, disk: LocalDisk) -> None:
        healthy = [disk.open(f"{tmp_path}/f{number}", create=True) for number in range(others + 1)]
        broken = disk.open(NEVER_SYNCS)
        fault = await synced(host, [*healthy[1:], broken])
        assert isinstance(fault, HostFault)
        assert not isinstance(fault, DiskFull)
        heal(broken, healthy[0])
        assert await synced(host, [broken]) is fault
        assert await synced(host, [*healthy, broken, *healthy]) is fault
        with pytest.raises(HostFault) as raised:
            disk.sync_now(broken)
        assert raised.value is fault
        assert await synced(host, healthy) is None

    on_disk(work)


def test_a_failed_sync_of_the_file_system_fails_every_file_there(tmp_path: Path) -> None:
    async def work(host: Host, disk: LocalDisk) -> None:
        files = [disk.open(f"{tmp_path}/f{number}", create=True) for number in range(SYNCFS_FROM_FILES + 1)]
        file_systems = disk._sync_thread._file_systems
        fd = file_systems._fds[files[0].device]
        kept = os.dup(fd)
        os.close(fd)
        fault = await synced(host, files[:SYNCFS_FROM_FILES])
        assert isinstance(fault, HostFault)
        os.dup2(kept, fd)
        os.close(kept)
        assert await synced(host, files[:SYNCFS_FROM_FILES]) is fault
        assert await synced(host, files[-1:]) is fault  # whose bytes were lost, the kernel did not say

    on_disk(work)


def test_a_quick_disk_syncs_what_is_small_before_it_answers(tmp_path: Path) -> None:
    async def work(host: Host, disk: LocalDisk) -> None:
        file = disk.open(f"{tmp_path}/f", create=True)
        answers: list[Exception | None] = []
        for mean_ns, at_once in ((QUICK_NS, False), (0, True)):
            disk._sync_thread._small_sync_ns = mean_ns
            answers.clear()
            file.append([b"x"])
            disk.start_sync([file], [], answers.append, small=True)
            assert bool(answers) == at_once
            assert await synced(host, [file]) is None  # rounds are answered in order
            assert answers == [None]

    on_disk(work)


def test_a_sync_that_fails_at_once_is_told(tmp_path: Path) -> None:
    async def work(host: Host, disk: LocalDisk) -> None:
        broken = disk.open(NEVER_SYNCS)
        disk._sync_thread._small_sync_ns = 0
        answers: list[Exception | None] = []
        disk.start_sync([broken], [], answers.append, small=True)
        assert isinstance(answers[0], HostFault)
        assert await synced(host, [broken]) is answers[0]

    on_disk(work)


def test_a_full_device_that_cannot_cut_back_is_a_fault(tmp_path: Path) -> None:
    async def work(host: Host, disk: LocalDisk) -> None:
        with pytest.raises(HostFault, match="could not cut back") as raised:
            disk.open(NEVER_SYNCS).append([b"x"])
        assert not isinstance(raised.value, DiskFull)

    on_disk(work)


def test_descriptors_are_given_back(tmp_path: Path) -> None:
    async def work(host: Host, disk: LocalDisk) -> None:
        before = len(os.listdir("/proc/self/fd"))
        files = [disk.open(f"{tmp_path}/f{number}", create=True) for number in range(SYNCFS_FROM_FILES)]
        done: asyncio.Future[Exception | None] = asyncio.get_running_loop().create_future()
        disk.start_sync(files, [str(tmp_path)], done.set_result)
        for file in files:
            file.close()
        assert await done is None
        # One stays: that through which the file system is synced.
        assert len(os.listdir("/proc/self/fd")) <= before + 1

    on_disk(work)


def test_reserved_room_is_really_there(tmp_path: Path) -> None:
    async def work(host: Host, disk: LocalDisk) -> None:
        file = disk.open(f"{tmp_path}/f", create=True)
        file.reserve(4 << 20)
        status = os.stat(file.path)
        assert status.st_size == 0
        if status.st_blocks == 0:
            pytest.skip("this file system reserves nothing")
        assert status.st_blocks * 512 >= 4 << 20

    on_disk(work)


def test_files_are_private_to_their_owner_and_group(tmp_path: Path) -> None:
    async def work(host: Host, disk: LocalDisk) -> None:
        disk.make_directory(f"{tmp_path}/d")
        disk.open(f"{tmp_path}/d/f", create=True)
        assert os.stat(f"{tmp_path}/d").st_mode & 0o007 == 0
        assert os.stat(f"{tmp_path}/d/f").st_mode & 0o007 == 0

    on_disk(work)


def test_cold_bytes_are_known_and_can_be_warmed(tmp_path: Path) -> None:
    async def work(host: Host, disk: LocalDisk) -> None:
        file = disk.open(f"{tmp_path}/f", create=True)
        file.append([os.urandom(1 << 20) * 12])
        disk.sync_now(file)
        assert file.is_warm(0, 1 << 20)
        assert file.is_hot(file.size - 1)
        assert not file.is_hot(0)
        os.posix_fadvise(file.fd, 0, 0, os.POSIX_FADV_DONTNEED)
        if file.is_warm(0, 1 << 20):
            pytest.skip("this file system cannot tell, or cannot forget")
        file.warming(0, 1 << 20)()
        assert file.is_warm(0, 1 << 20)

    on_disk(work)


def test_a_lock_keeps_other_disks_out_too(tmp_path: Path) -> None:
    async def work(host: Host, disk: LocalDisk) -> None:
        lock = disk.lock(f"{tmp_path}/lock")
        with pytest.raises(HostFault, match="another process"):
            LocalDisk(asyncio.get_running_loop()).lock(f"{tmp_path}/lock")
        lock.release()

    on_disk(work)


def test_kernels_that_hide_errors_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    for release, reports in [("4.19.0-26-amd64", False), ("5.7.19", False), ("5.8.0", True), ("6.18.44-x", True)]:
        monkeypatch.setattr(os, "uname", lambda release=release: os.uname_result(("", "", release, "", "")))
        assert system_calls.syncfs_reports_errors() is reports
