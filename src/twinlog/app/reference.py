"""Writes the pages of docs that are made from the program: ``python -m twinlog.app.reference DOCS``."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from twinlog.app.limits import limits_page
from twinlog.app.settings import ENTRIES, FLAGS, Entry
from twinlog.kafka.config_page import topic_configs_page
from twinlog.kafka.groups.states_page import group_states_page

HEAD = """# Settings

Made from the program by `make docs`: change the declarations, not this page.

A setting is looked up in this order; the later one wins, and `twinlog config show` names the source of each value:

1. the default below,
2. a TOML file, named by `--settings FILE` or the variable `TWINLOG_SETTINGS`, with one table a section,
3. an environment variable, named below,
4. the command line: the word named below, or `--set section.name=value` for any setting.

A value out of range stops the start with a line that names the source and the range. "Live" settings can be changed
while the node runs; the others count after a restart.
"""


def settings_page() -> str:
    return HEAD + "".join(section_lines())


def section_lines() -> Iterator[str]:
    words = {key: word for word, key in FLAGS.items()}
    for section, entries in groupby(ENTRIES.values(), key=lambda entry: entry.section):
        yield f"\n## [{section}]\n"
        for entry in entries:
            yield entry_text(entry, words.get(entry.key))


def entry_text(entry: Entry, word: str | None) -> str:
    setting = entry.setting
    shown = setting.show(setting.default)
    default = f"`{shown}`" if shown else "nothing"
    lines = [
        f"\n### {entry.key}\n\n{setting.doc}\n",
        f"- {capital(setting.allowed)}; default {default}; {'live' if setting.live else 'needs a restart'}",
        f"- `{entry.variable}`" + (f", `{word}`" if word else ""),
    ]
    return "\n".join(lines) + "\n"


def capital(text: str) -> str:
    return text[:1].upper() + text[1:]


METRICS_HEAD = """# Metrics

Made from the program by `make docs`: change the declarations, not this page.

`/metrics` on the HTTP listener answers in Prometheus's text format. It takes a login by a user with the tag
`monitoring` (or none at all, with `http.metrics_open = true`). `/metrics/per-object` adds lines for each queue, topic
and group, up to `http.metric_labels_max` of each; `/metrics/detailed?family=queue_coarse_metrics&vhost=...` has
RabbitMQ's lines for queues.

```yaml
scrape_configs:
  - job_name: twinlog
    basic_auth: {username: prometheus, password: ...}
    static_configs: [{targets: ["127.0.0.1:15672"]}]
```

Dashboards for Grafana, to be imported: `ops/grafana/twinlog-kafka.json` and `ops/grafana/twinlog-amqp.json`.

| metric | kind | labels | meaning |
| --- | --- | --- | --- |
"""


def metrics_page() -> str:
    from twinlog.servers.http.families import FAMILIES

    lines = []
    for family in FAMILIES.values():
        labels = ", ".join(f"`{label}`" for label in family.labels)
        lines.append(f"| `{family.name}` | {family.kind} | {labels} | {family.help} |\n")
    return METRICS_HEAD + "".join(lines)


def http_api_page() -> str:
    from twinlog.servers.http.api import ALL_ROUTES
    from twinlog.servers.http.api.documents import markdown

    return markdown(ALL_ROUTES)


PAGES = {
    "operate/metrics.md": metrics_page,
    "operate/http-api.md": http_api_page,
    "operate/limits.md": limits_page,
    "operate/settings.md": settings_page,
    "operate/topic-configs.md": topic_configs_page,
    "operate/group-states.md": group_states_page,
}


def main() -> None:
    (docs,) = sys.argv[1:] or ["docs"]
    for name, page in PAGES.items():
        path = Path(docs) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(page())


if __name__ == "__main__":
    main()
