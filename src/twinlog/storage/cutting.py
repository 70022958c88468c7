"""Cutting a log's files at a place: steps of which a crash may undo the last ones, but never lets cut bytes return."""

from __future__ import annotations

from twinlog.storage.marks import LogKey
from twinlog.storage.ports import LogHome
from twinlog.storage.recovery import delete_segment
from twinlog.storage.segment import Segment
from twinlog.storage.segments import Segments


def cut_files(home: LogHome, key: LogKey, segments: Segments, segment: Segment, position: int, end: int) -> None:
    """Takes away every segment behind ``segment``, and of that what lies from ``position`` on, where offset ``end``
    would begin. The log has to be read anew afterwards."""
    disk, pool = home.disk, home.pool
    directory = home.path_of(key)
    for late in segments.all[segments.slot(segment.offset_base) :]:
        home.small_rounds.void(*key, late.offset_base, position if late is segment else 0)
    for late in reversed(segments.all):
        if late is segment:
            break
        late.unsynced = False
        pool.close(late)
        delete_segment(disk, late)
    if disk.exists(segment.index_path):
        disk.delete(segment.index_path)
    segment.unsynced = False
    pool.close(segment)
    if segment.is_compacted and not position:
        disk.delete(segment.path)
    else:
        cut = segment
        if segment.is_compacted:  # its name says where it ends; what lies behind that counts for nothing
            cut = Segment(directory, segment.offset_base, end, segment.generation)
            disk.rename(segment.path, cut.path)
            disk.sync_directory_now(directory)
        file = disk.open(cut.path)
        file.truncate(position)
        disk.sync_now(file)
        file.close()
    disk.sync_directory_now(directory)
