"""What every disk promises (``twinlog.host.disk``)."""

from __future__ import annotations

import asyncio

import pytest

from tests.kit.hosts import Check, Place, synced
from twinlog.base.errors import DiskFull, HostFault


async def appended_parts_follow_one_another(at: Place) -> None:
    file = at.host.disk.open(at.path("f"), create=True)
    assert (file.path, file.size) == (at.path("f"), 0)
    assert file.append([b"one", bytearray(b"two"), memoryview(b"xthreex")[1:6]]) == 0
    assert file.append([b"four"]) == 11
    assert file.append([]) == 15
    assert file.size == 15
    assert file.read_at(0, 15) == b"onetwothreefour"
    file.close()


async def any_number_of_parts_is_one_append(at: Place) -> None:
    file = at.host.disk.open(at.path("f"), create=True)
    parts = [number.to_bytes(2, "big") for number in range(5000)]
    file.append(parts)
    assert file.read_at(0, 20_000) == b"".join(parts)
    file.close()


async def a_read_is_short_only_at_the_end(at: Place) -> None:
    file = at.host.disk.open(at.path("f"), create=True)
    file.append([b"0123456789"])
    assert file.read_at(8, 100) == b"89"
    assert file.read_at(10, 1) == b""
    assert file.read_at(99, 1) == b""
    assert file.read_at(3, 0) == b""
    assert file.read_at(0, 1 << 60) == b"0123456789"  # what is not there costs nothing
    file.close()


async def a_write_overwrites_and_may_reach_beyond_the_end(at: Place) -> None:
    file = at.host.disk.open(at.path("f"), create=True)
    file.append([b"0123456789"])
    file.write_at(2, b"xx")
    file.write_at(9, b"yyy")
    assert (file.size, file.read_at(0, 99)) == (12, b"01xx45678yyy")
    file.close()


async def truncation_cuts_and_appends_go_on_from_there(at: Place) -> None:
    file = at.host.disk.open(at.path("f"), create=True)
    file.append([b"0123456789"])
    file.truncate(4)
    assert file.append([b"ab"]) == 4
    assert file.read_at(0, 99) == b"0123ab"
    file.truncate(8)
    assert file.read_at(0, 99) == b"0123ab\0\0"
    file.close()


async def reserved_room_is_not_length(at: Place) -> None:
    file = at.host.disk.open(at.path("f"), create=True)
    file.reserve(1 << 20)
    file.append([b"ab"])
    file.reserve(1)
    assert (file.size, at.host.disk.size(at.path("f"))) == (2, 2)
    file.close()


async def a_reopened_file_is_as_it_was(at: Place) -> None:
    first = at.host.disk.open(at.path("f"), create=True)
    first.append([b"kept"])
    first.close()
    again = at.host.disk.open(at.path("f"))
    assert (again.size, again.read_at(0, 9)) == (4, b"kept")
    assert at.host.disk.open(at.path("f"), create=True).size == 4


async def what_is_missing_is_a_fault(at: Place) -> None:
    disk = at.host.disk
    for call in (disk.open, disk.size, disk.list, disk.delete, disk.sync_directory_now):
        with pytest.raises(HostFault):
            call(at.path("missing"))
    with pytest.raises(HostFault):
        disk.rename(at.path("missing"), at.path("other"))
    with pytest.raises(HostFault):
        disk.open(at.path("missing/f"), create=True)
    assert not disk.exists(at.path("missing"))


async def names_are_listed_in_order(at: Place) -> None:
    disk = at.host.disk
    for name in ("b", "a", "c"):
        disk.open(at.path(name), create=True).close()
    disk.make_directory(at.path("d"))
    assert disk.list(at.directory) == ["a", "b", "c", "d"]
    assert disk.exists(at.path("d"))


async def directories_come_with_their_parents_and_go_with_their_contents(at: Place) -> None:
    disk = at.host.disk
    disk.make_directory(at.path("x/y/z"))
    disk.make_directory(at.path("x/y/z"))
    disk.open(at.path("x/y/f"), create=True).close()
    assert disk.list(at.path("x/y")) == ["f", "z"]
    disk.delete_tree(at.path("x"))
    assert disk.list(at.directory) == []
    disk.delete_tree(at.path("x"))


async def a_rename_replaces_wholly(at: Place) -> None:
    disk = at.host.disk
    for name in ("old", "new"):
        file = disk.open(at.path(name), create=True)
        file.append([name.encode()])
        file.close()
    disk.rename(at.path("old"), at.path("new"))
    assert disk.list(at.directory) == ["new"]
    assert disk.open(at.path("new")).read_at(0, 9) == b"old"


async def a_deleted_file_lives_while_it_is_open(at: Place) -> None:
    file = at.host.disk.open(at.path("f"), create=True)
    file.append([b"still"])
    at.host.disk.delete(at.path("f"))
    assert file.read_at(0, 9) == b"still"
    other = at.host.disk.open(at.path("f"), create=True)
    assert (other.size, file.size) == (0, 5)
    file.close()
    other.close()


async def a_closed_file_is_of_no_use(at: Place) -> None:
    file = at.host.disk.open(at.path("f"), create=True)
    file.append([b"x"])
    file.close()
    file.close()
    with pytest.raises(HostFault):
        file.append([b"y"])
    with pytest.raises(HostFault):
        file.read_at(0, 1)
    with pytest.raises(HostFault):
        at.host.disk.start_sync([file], [], lambda fault: None)


async def a_full_disk_leaves_the_file_as_it_was(at: Place) -> None:
    file = at.host.disk.open(at.path("f"), create=True)
    file.append([b"before"])
    with at.room(1000):
        with pytest.raises(DiskFull):
            file.append([bytes(600), bytes(600)])
        with pytest.raises(DiskFull):
            file.write_at(3, bytes(2000))
        assert file.size == at.host.disk.size(at.path("f")) == 6
        file.append([bytes(500)])  # what fits still fits
        assert file.size == 506
    file.append([bytes(2000)])
    assert file.read_at(0, 7) == b"bef\0\0\0\0" or file.read_at(0, 7) == b"before\0"
    file.close()


async def room_is_told(at: Place) -> None:
    total = at.host.disk.total_bytes(at.directory)
    assert 0 < at.host.disk.free_bytes(at.directory) <= total


async def a_sync_is_answered_later(at: Place) -> None:
    file = at.host.disk.open(at.path("f"), create=True)
    file.append([b"x"])
    answers: list[Exception | None] = []
    at.host.disk.start_sync([file], [at.directory], answers.append)
    assert answers == []
    assert await synced(at.host, [file]) is None
    assert answers == [None]
    at.host.disk.sync_now(file)
    at.host.disk.sync_directory_now(at.directory)
    file.close()


async def any_number_of_files_syncs_in_one_round(at: Place) -> None:
    disk = at.host.disk
    files = [disk.open(at.path(f"f{number}"), create=True) for number in range(12)]
    for file in files:
        file.append([b"x"])
    for count in range(len(files) + 1):
        assert await synced(at.host, files[:count], [at.directory]) is None
    for file in files:
        file.close()


async def rounds_are_answered_in_order(at: Place) -> None:
    files = [at.host.disk.open(at.path(f"f{number}"), create=True) for number in range(9)]
    answers: list[int] = []
    for number in range(9):
        at.host.disk.start_sync(files[number:], [], lambda fault, number=number: answers.append(number))
    await synced(at.host, files)
    assert answers == list(range(9))


async def a_file_may_be_closed_while_it_is_synced(at: Place) -> None:
    answer: asyncio.Future[Exception | None] = asyncio.get_running_loop().create_future()
    file = at.host.disk.open(at.path("f"), create=True)
    file.append([b"x"])
    at.host.disk.start_sync([file], [], answer.set_result)
    file.close()
    others = [at.host.disk.open(at.path(f"other{number}"), create=True) for number in range(3)]
    assert await answer is None
    for other in others:
        other.close()


async def a_missing_directory_fails_its_round_and_no_other(at: Place) -> None:
    file = at.host.disk.open(at.path("f"), create=True)
    assert isinstance(await synced(at.host, [file], [at.path("missing")]), HostFault)
    assert await synced(at.host, [file], [at.directory]) is None


async def a_lock_has_one_holder(at: Place) -> None:
    lock = at.host.disk.lock(at.path("lock"))
    with pytest.raises(HostFault):
        at.host.disk.lock(at.path("lock"))
    lock.release()
    lock.release()
    second = at.host.disk.lock(at.path("lock"))
    lock.release()  # of somebody who holds nothing any more
    with pytest.raises(HostFault):
        at.host.disk.lock(at.path("lock"))
    second.release()


DISK_CHECKS: list[Check] = [
    appended_parts_follow_one_another,
    any_number_of_parts_is_one_append,
    a_read_is_short_only_at_the_end,
    a_write_overwrites_and_may_reach_beyond_the_end,
    truncation_cuts_and_appends_go_on_from_there,
    reserved_room_is_not_length,
    a_reopened_file_is_as_it_was,
    what_is_missing_is_a_fault,
    names_are_listed_in_order,
    directories_come_with_their_parents_and_go_with_their_contents,
    a_rename_replaces_wholly,
    a_deleted_file_lives_while_it_is_open,
    a_closed_file_is_of_no_use,
    a_full_disk_leaves_the_file_as_it_was,
    room_is_told,
    a_sync_is_answered_later,
    any_number_of_files_syncs_in_one_round,
    rounds_are_answered_in_order,
    a_file_may_be_closed_while_it_is_synced,
    a_missing_directory_fails_its_round_and_no_other,
    a_lock_has_one_holder,
]
