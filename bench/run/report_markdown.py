"""The report as Markdown, with the plots beside it."""

from __future__ import annotations

from report_text import Report, Section, sections
from tables import as_markdown

TITLE = "# Benchmarks"


def _table(caption: str, text: str, folded: bool) -> str:
    if folded:
        return f"<details><summary>{caption}</summary>\n\n{text}\n\n</details>"
    return f"**{caption}**\n\n{text}" if caption else text


def _section(section: Section, plot_folder: str) -> str:
    blocks = [f"## {section.title}", *section.paragraphs]
    if section.items:
        blocks.append("\n".join(f"- {item}" for item in section.items))
    blocks += [
        _table(caption, as_markdown(table), section.folded) for caption, table in section.tables
    ]
    blocks += [f"![{title}]({plot_folder}/{file})" for file, title in section.plots]
    return "\n\n".join(blocks)


def markdown(report: Report, plot_folder: str) -> str:
    page, results = (f"{plot_folder}/{name}" for name in ("index.html", "results.json"))
    links = f"The same as a page: [{page}]({page}); all single results: [{results}]({results})."
    blocks = [TITLE, links]
    blocks += [_section(section, plot_folder) for section in sections(report)]
    return "\n\n".join(blocks) + "\n"
