"""The report as one HTML page; only the plots are files beside it."""

from __future__ import annotations

import html
import re

from report_text import Report, Section, sections
from tables import Table

STYLE = """
:root { color-scheme: light dark; --back: #fff; --text: #1b1b1b; --line: #d4d4d4; --soft: #f3f3f3;
  --good: #00694b; --bad: #b02a00; }
@media (prefers-color-scheme: dark) {
  :root { --back: #16181b; --text: #e4e4e4; --line: #3c4046; --soft: #212429;
    --good: #4fd1a5; --bad: #ff9466; }
}
body { font: 16px/1.5 system-ui, sans-serif; max-width: 75rem; margin: 2rem auto; padding: 0 1rem;
  background: var(--back); color: var(--text); }
h1, h2 { line-height: 1.2; } h2 { margin-top: 2.5rem; }
nav a { margin-right: 1rem; } a { color: inherit; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .875rem; font-variant-numeric: tabular-nums;
  margin: .5rem 0 1.5rem; }
caption { text-align: left; font-weight: 600; padding: .25rem 0; }
th, td { border-bottom: 1px solid var(--line); padding: .25rem .75rem; text-align: right;
  white-space: nowrap; }
th { background: var(--soft); } th:first-child, td:first-child { text-align: left; }
td.met { color: var(--good); font-weight: 600; } td.missed { color: var(--bad); font-weight: 600; }
figure { margin: 1rem 0; } img { max-width: 100%; background: #fff; border-radius: 6px;
  padding: .5rem; box-sizing: border-box; }
code { background: var(--soft); padding: 0 .25em; } summary { cursor: pointer; margin: .25rem 0; }
"""
VERDICTS = ("met", "missed")


def _text(text: str) -> str:
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text))


def _cell(cell: str) -> str:
    kind = f' class="{cell}"' if cell in VERDICTS else ""
    return f"<td{kind}>{_text(cell)}</td>"


def _table(caption: str, table: Table, folded: bool) -> str:
    head = "".join(f"<th>{_text(cell)}</th>" for cell in table.header)
    rows = "\n".join("<tr>" + "".join(map(_cell, row)) + "</tr>" for row in table.rows)
    title = f"<caption>{_text(caption)}</caption>" if caption and not folded else ""
    text = (
        f'<div class="scroll"><table>{title}<thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{rows}\n</tbody></table></div>"
    )
    if folded:
        return f"<details><summary>{_text(caption)}</summary>{text}</details>"
    return text


def _figure(file: str, title: str) -> str:
    image = f'<img src="{html.escape(file)}" alt="{html.escape(title)}" loading="lazy">'
    return f"<figure>{image}</figure>"


def _anchor(section: Section) -> str:
    return re.sub(r"[^a-z]+", "-", section.title.lower()).strip("-")


def _section(section: Section) -> str:
    parts = [f'<h2 id="{_anchor(section)}">{_text(section.title)}</h2>']
    parts += [f"<p>{_text(paragraph)}</p>" for paragraph in section.paragraphs]
    if section.items:
        items = "\n".join(f"<li>{_text(item)}</li>" for item in section.items)
        parts.append(f"<ul>\n{items}\n</ul>")
    parts += [_table(caption, table, section.folded) for caption, table in section.tables]
    parts += [_figure(file, title) for file, title in section.plots]
    return "\n".join(parts)


def page(report: Report) -> str:
    all_sections = sections(report)
    links = "".join(
        f'<a href="#{_anchor(section)}">{_text(section.title)}</a> ' for section in all_sections
    )
    body = "\n".join(_section(section) for section in all_sections)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>ntcpmsg benchmarks</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        f"<h1>ntcpmsg benchmarks</h1>\n<nav>{links}</nav>\n{body}\n</body>\n</html>\n"
    )
