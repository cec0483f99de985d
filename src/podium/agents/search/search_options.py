"""The options of search agents, part by part; an agent's own are put together from them."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from podium.agents.base import Options
from podium.agents.model_agent import ModelOptions


class SearchOptions(Options):
    """Options of every search."""

    parallel: int = Field(1, ge=1, description="Scripts that run side by side.")
    nodes: int = Field(500, ge=1, description="Scripts to try at most.")
    script_time: float | None = Field(
        None, gt=0, description="Seconds one script may take. By default a quarter of what is left, at least a minute."
    )
    select: Literal["best", "revalidate", "ensemble", "weighted"] = Field(
        "best",
        description="The final submission: best (of the script with the best score; with rows set aside, the best of "
        "the top ones on those for the final choice), revalidate (of the best after the top ones were scored on fresh "
        "splits), ensemble (a blend of the top ones) or weighted (a blend weighted on rows set aside).",
    )
    evaluation: Literal["reported", "held-out", "auto"] = Field(
        "reported",
        description="What counts: reported (the score that a script prints), held-out (Podium's own, on training rows "
        "that it set aside) or auto (held-out where the data allows it).",
    )
    search_share: float = Field(0.1, gt=0, lt=0.4, description="Training rows set aside for the search.")
    selection_share: float = Field(0.1, gt=0, lt=0.4, description="Training rows set aside for the final choice.")
    top: int = Field(3, ge=1, description="How many scripts are scored again or blended.")
    splits: int = Field(2, ge=1, description="Fresh validation splits for scoring again.")


class DraftingOptions(SearchOptions):
    """Options of every search with an unlimited supply of drafts."""

    drafts: int = Field(5, ge=1, description="Scripts written from scratch before others are built on them.")
    debug_depth: int = Field(10, ge=0, description="Attempts in a row at debugging a script.")


class GreedyOptions(DraftingOptions):
    """AIDE's policy, with AIDE's values. MLE-bench ran it with debug_probability=1 and debug_depth=20."""

    debug_probability: float = Field(0.5, ge=0, le=1, description="How often debugging goes before improving.")
    debug_depth: int = Field(3, ge=0, description="Debug steps that may lead to a script that is debugged once more.")


class MctsOptions(DraftingOptions):
    """Monte Carlo tree search, with AIRA's values."""

    exploration: float = Field(0.25, ge=0, description="Weight of rarely visited scripts (c of UCT).")
    children: int = Field(5, ge=1, description="Improvements tried when a script is expanded.")


class EvolveOptions(DraftingOptions):
    """Evolution, with AIRA's values."""

    generation: int = Field(5, ge=1, description="Scripts per generation, after the first one of drafts.")
    capacity: int = Field(500, ge=2, description="Largest population; the worst are dropped.")
    crossover: float = Field(0.5, ge=0, le=1, description="How often two scripts are merged, from generation 2 on.")
    parent_temperature: float = Field(1.0, gt=0, description="Of choosing parents: low prefers the best.")


class FrontierOptions(DraftingOptions):
    """A combination of techniques that raised medal rates elsewhere; each can be switched off."""

    drafts: int = Field(4, ge=1, description="Scripts written from scratch before others are built on them.")
    debug_depth: int = Field(3, ge=0, description="Attempts in a row at debugging a script.")
    debug_probability: float = Field(1.0, ge=0, le=1, description="How often debugging goes before everything else.")
    evaluation: Literal["reported", "held-out", "auto"] = Field(
        "auto", description="What counts: reported, held-out, or auto (held-out where the data allows it)."
    )
    select: Literal["best", "revalidate", "ensemble", "weighted"] = Field(
        "weighted", description="The final submission: best, revalidate, ensemble or weighted (on rows set aside)."
    )
    top: int = Field(6, ge=1, description="How many scripts the final submission is chosen from or made of.")
    knowledge: bool = Field(True, description="Tell the coder what is known to work for the kind of data.")
    lessons: bool = Field(True, description="Tell the coder what the search has learnt, and how a script came to be.")
    fusion: bool = Field(True, description="Unite scripts of different branches when nothing gets better.")
    patience: int = Field(3, ge=1, description="Scripts without progress before branches are united.")
    leak_check: bool = Field(True, description="Warn the coder of leaks, false scores and data files left unused.")
    edits_from: int = Field(
        8_000, ge=0, description="Characters from which on a script is changed by search and replace, not written anew."
    )
    debug_sample: bool = Field(
        True, description="Try the repair of a slow script on a sample of the training rows before it runs in full."
    )
    early_stop: bool = Field(True, description="End scripts that are worse than the best ones were at the same point.")
    cues: bool = Field(True, description="Ask for simple, middling and elaborate drafts in turn.")
    shared_lessons: bool = Field(
        False, description="Tell the coder what helped on other tasks of the experiment, without any data."
    )


class WritingOptions(ModelOptions):
    """Options of the model that writes scripts."""

    review: Literal["needed", "always"] = Field(
        "needed", description="Which outputs a model reads: needed (those without a metric line) or always (all)."
    )
    attempts: int = Field(3, ge=1, description="Answers asked for before a script counts as not written.")
    max_tokens: int = Field(16_384, ge=256, description="Longest answer.")
    prompt_characters: int = Field(80_000, ge=8_000, description="Longest prompt; shorter where the window is small.")
