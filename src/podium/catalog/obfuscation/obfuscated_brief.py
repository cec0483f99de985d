"""Brief of an obfuscated task: target, form and metric, without story and names."""

from __future__ import annotations

import re

from podium.task import Boolean, Columns, Integer, Number, Task, Text, Values

_KEPT = ("Metric", "Submission", "Files", "Format")


def make_brief(base: Task, form: Columns) -> str:
    """Return the brief; unless the data is only a table, it keeps the sections on files and form, with new names."""
    better = "Higher" if base.metric.higher_is_better else "Lower"
    targets = ", ".join(f"`{name}`" for name in form.targets[:6]) + (", ..." if len(form.targets) > 6 else "")
    ids = ", ".join(f"`{name}`" for name in form.ids)
    lines = [
        "# A prediction task",
        "",
        "## Goal",
        f"Predict {targets} for every row that `{form.sample}` names. The kind of task: {base.kind}.",
        "",
        "## Files",
        f"- `{form.sample}`: the form of a submission",
        "- `train*.csv` and the like, where there are such: rows with their targets; `test*.csv`: rows to predict",
        "",
        "Columns are numbered, and categories are written as `value_NUMBER`, the same in all files.",
        "",
        "## Metric",
        f"{base.metric.title}. {better} is better.",
        "",
        "## Submission",
        f"A CSV with the columns {ids} and {targets}, with the rows of `{form.sample}`.",
        _cells(form.rule(form.targets[0])),
    ]
    if "tabular" not in base.kind:
        lines += ["", "## Details", _details(base, form)]
    return "\n".join(lines) + "\n"


def _cells(rule: Values) -> str:
    match rule:
        case Number(low=low, high=high):
            bounds = f" from {low:g} to {high:g}" if low is not None and high is not None else ""
            return f"Targets are numbers{bounds}."
        case Integer():
            return "Targets are whole numbers."
        case Boolean():
            return "Targets are True or False."
        case Text():
            return "Targets are texts."


def _details(base: Task, form: Columns) -> str:
    """Return the sections of the brief on files and submissions, without words that identify the task."""
    sections = re.split(r"^## ", base.brief, flags=re.MULTILINE)[1:]
    text = "\n".join(section.partition("\n")[2] for section in sections if section.startswith(_KEPT))
    new = dict(zip((*base.form.ids, *base.form.targets), (*form.ids, *form.targets), strict=True))
    for old, name in sorted(new.items(), key=lambda pair: -len(pair[0])):
        text = text.replace(f"`{old}`", f"`{name}`")
    words = {word for part in (base.title, base.id) for word in re.findall(r"[A-Za-z0-9]{4,}", part)}
    for word in sorted(
        words - {"classification", "detection", "prediction", "challenge", "image"}, key=len, reverse=True
    ):
        text = re.sub(rf"\b{re.escape(word)}\w*", "…", text, flags=re.IGNORECASE)
    return re.sub(r"Kaggle|competition", "…", text, flags=re.IGNORECASE).strip()
