"""Lists as RabbitMQ's tools ask for them: paged, filtered, sorted, only some columns.

What is shown of each item is made only for the items that are shown, unless the order depends on it; and long lists
are made in pieces, between which everybody else has a turn of the loop.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, TypeVar

from twinlog.host import Tasks
from twinlog.servers.http.message import Request, Response, bad_request, ok
from twinlog.servers.http.waiting import ITEMS_A_TURN, breath

T = TypeVar("T")

PAGE_SIZE_DEFAULT: Final = 100
PAGE_SIZE_MAX: Final = 500
PATTERN_MAX: Final = 1000
COLUMNS_MAX: Final = 100

QUERY: Final = (
    ("page", "which page, from 1; without it the whole list is answered"),
    ("page_size", f"items on a page, up to {PAGE_SIZE_MAX}"),
    ("name", "only names that hold this text"),
    ("use_regex", "true: name is a regular expression (RE2)"),
    ("sort", "a field, like messages or messages_details.rate"),
    ("sort_reverse", "true: greatest first"),
    ("columns", "fields to answer, with commas between"),
)


async def listed(
    tasks: Tasks, request: Request, items: Sequence[T], name_of: Callable[[T], str], view: Callable[[T], dict[str, Any]]
) -> Response:
    total = len(items)
    chosen = filtered(request, items, name_of)
    sort = request.query.get("sort", "")
    reverse = request.flag("sort_reverse")
    views: list[dict[str, Any]] | None = None
    if sort == "name":
        chosen = sorted(chosen, key=name_of, reverse=reverse)
    elif sort:
        views = await all_views(tasks, chosen, view)
        views.sort(key=lambda each: order_key(field_of(each, sort)), reverse=reverse)
    elif reverse:
        chosen = list(reversed(chosen))
    columns = columns_of(request)
    if "page" not in request.query:
        views = views if views is not None else await all_views(tasks, chosen, view)
        return ok([only(each, columns) for each in views])
    page = request.number("page", 1, 1, 1_000_000)
    page_size = request.number("page_size", PAGE_SIZE_DEFAULT, 1, PAGE_SIZE_MAX)
    page_count = max(1, -(-len(chosen) // page_size))
    if page > page_count:
        raise bad_request(f"there are {page_count} pages of {page_size}; page {page} is none of them")
    first = (page - 1) * page_size
    if views is None:
        shown = await all_views(tasks, chosen[first : first + page_size], view)
    else:
        shown = views[first : first + page_size]
    return ok(
        {
            "filtered_count": len(chosen),
            "item_count": len(shown),
            "items": [only(each, columns) for each in shown],
            "page": page,
            "page_count": page_count,
            "page_size": page_size,
            "total_count": total,
        }
    )


async def all_views(tasks: Tasks, items: Sequence[T], view: Callable[[T], dict[str, Any]]) -> list[dict[str, Any]]:
    views: list[dict[str, Any]] = []
    for start in range(0, len(items), ITEMS_A_TURN):
        if start:
            await breath(tasks)
        views += [view(each) for each in items[start : start + ITEMS_A_TURN]]
    return views


def filtered(request: Request, items: Sequence[T], name_of: Callable[[T], str]) -> list[T]:
    wanted = request.query.get("name", "")
    if not wanted:
        return list(items)
    if request.flag("use_regex"):
        search = pattern(wanted)
        return [each for each in items if search(name_of(each))]
    wanted = wanted.lower()
    return [each for each in items if wanted in name_of(each).lower()]


@lru_cache(maxsize=64)
def pattern(text: str) -> Callable[[str], bool]:
    """Linear in the length of the name, whatever the expression is."""
    import re2  # type: ignore[import-untyped]

    if len(text) > PATTERN_MAX:
        raise bad_request(f"a pattern may have {PATTERN_MAX} characters")
    options = re2.Options()
    options.log_errors = False
    options.max_mem = 1 << 20
    try:
        compiled = re2.compile(text, options)
    except re2.error:
        raise bad_request("name is no regular expression that RE2 knows") from None
    return lambda name: compiled.search(name) is not None


def columns_of(request: Request) -> list[str]:
    text = request.query.get("columns", "")
    columns = [each for each in text.split(",") if each]
    if len(columns) > COLUMNS_MAX:
        raise bad_request(f"more than {COLUMNS_MAX} columns")
    return columns


def only(view: dict[str, Any], columns: Sequence[str]) -> dict[str, Any]:
    if not columns:
        return view
    result: dict[str, Any] = {}
    for column in columns:
        value = field_of(view, column)
        if value is None and not has_field(view, column):
            continue
        *path, last = column.split(".")
        target = result
        for step in path:
            inner = target.setdefault(step, {})
            if not isinstance(inner, dict):
                break
            target = inner
        else:
            target[last] = value
    return result


def field_of(view: Mapping[str, Any], name: str) -> Any:
    value: Any = view
    for step in name.split("."):
        if not isinstance(value, Mapping):
            return None
        value = value.get(step)
    return value


def has_field(view: Mapping[str, Any], name: str) -> bool:
    value: Any = view
    for step in name.split("."):
        if not isinstance(value, Mapping) or step not in value:
            return False
        value = value[step]
    return True


def order_key(value: Any) -> tuple[int, Any]:
    if isinstance(value, bool):
        return (1, int(value))
    if isinstance(value, (int, float)):
        return (1, value)
    if isinstance(value, str):
        return (2, value)
    return (0, 0)
