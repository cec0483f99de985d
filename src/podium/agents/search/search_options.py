"""Options of search agents, as base classes that agents combine."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from podium.agents.base import Options
from podium.agents.model_agent import ModelOptions


class SearchOptions(Options):
    """Options of every search."""

    parallel: int = Field(1, ge=1, description="Number of scripts that run in parallel.")
    nodes: int = Field(500, ge=1, description="Maximum number of scripts to try.")
    script_time: float | None = Field(
        None,
        gt=0,
        description="Time limit of one script in seconds. Default: a quarter of the remaining time, at least a minute.",
    )
    select: Literal["best", "revalidate", "ensemble", "weighted"] = Field(
        "best",
        description="Final submission: best (the script with the best score; with held-out rows, the top script with "
        "the best score on the selection rows), revalidate (the best top script on fresh splits), ensemble (a blend of "
        "the top scripts) or weighted (a blend weighted on held-out rows).",
    )
    evaluation: Literal["reported", "held-out", "auto"] = Field(
        "reported",
        description="Score that guides the search: reported (printed by the script), held-out (measured by Podium on "
        "held-out training rows) or auto (held-out if the data allows it).",
    )
    search_share: float = Field(0.1, gt=0, lt=0.4, description="Share of training rows held out for the search.")
    selection_share: float = Field(
        0.1, gt=0, lt=0.4, description="Share of training rows held out for the final selection."
    )
    top: int = Field(3, ge=1, description="Number of top scripts that are scored again or blended.")
    splits: int = Field(2, ge=1, description="Number of fresh validation splits for scoring again.")


class DraftingOptions(SearchOptions):
    """Options of every search with an unlimited supply of drafts."""

    drafts: int = Field(5, ge=1, description="Number of scripts written from scratch before any is improved.")
    debug_depth: int = Field(10, ge=0, description="Maximum number of consecutive debug steps for a script.")


class GreedyOptions(DraftingOptions):
    """Options of AIDE's policy, with AIDE's defaults. MLE-bench used debug_probability=1 and debug_depth=20."""

    debug_probability: float = Field(0.5, ge=0, le=1, description="Probability of debugging instead of improving.")
    debug_depth: int = Field(3, ge=0, description="Maximum debug depth of a script that is debugged again.")


class MctsOptions(DraftingOptions):
    """Options of Monte Carlo tree search, with AIRA's defaults."""

    exploration: float = Field(0.25, ge=0, description="Exploration constant of UCT: weight of rarely visited scripts.")
    children: int = Field(5, ge=1, description="Number of improvements tried when a script is expanded.")


class EvolveOptions(DraftingOptions):
    """Options of evolutionary search, with AIRA's defaults."""

    generation: int = Field(5, ge=1, description="Number of scripts per generation, after the drafts.")
    capacity: int = Field(500, ge=2, description="Maximum size of the population; the worst scripts are dropped.")
    crossover: float = Field(0.5, ge=0, le=1, description="Probability of merging two scripts, from generation 2 on.")
    parent_temperature: float = Field(
        1.0, gt=0, description="Temperature of parent selection: low values prefer the best scripts."
    )


class FrontierOptions(DraftingOptions):
    """Options of a combination of techniques that raised medal rates in other work; each can be disabled."""

    drafts: int = Field(4, ge=1, description="Number of scripts written from scratch before any is improved.")
    debug_depth: int = Field(3, ge=0, description="Maximum number of consecutive debug steps for a script.")
    debug_probability: float = Field(1.0, ge=0, le=1, description="Probability of debugging before anything else.")
    evaluation: Literal["reported", "held-out", "auto"] = Field(
        "auto",
        description="Score that guides the search: reported, held-out, or auto (held-out if the data allows it).",
    )
    select: Literal["best", "revalidate", "ensemble", "weighted"] = Field(
        "weighted", description="Final submission: best, revalidate, ensemble or weighted (on held-out rows)."
    )
    top: int = Field(6, ge=1, description="Number of scripts from which the final submission is chosen or blended.")
    knowledge: bool = Field(True, description="Add proven approaches for the kind of data to the coder's prompt.")
    lessons: bool = Field(True, description="Add lessons of the search and the history of the script to the prompt.")
    fusion: bool = Field(True, description="Merge scripts of different branches when the search stagnates.")
    patience: int = Field(3, ge=1, description="Number of scripts without progress before branches are merged.")
    leak_check: bool = Field(True, description="Warn the coder of leaks, invented scores and unused data files.")
    edits_from: int = Field(
        8_000,
        ge=0,
        description="Length in characters from which a script is edited by search and replace, not rewritten.",
    )
    debug_sample: bool = Field(
        True, description="Run the repair of a slow script on a sample of the training rows before it runs in full."
    )
    early_stop: bool = Field(True, description="Stop scripts that are worse than the best ones were at the same point.")
    cues: bool = Field(True, description="Request simple, medium and elaborate drafts in turn.")
    shared_lessons: bool = Field(
        False, description="Add lessons from other tasks of the experiment to the prompt, without any data."
    )


class WritingOptions(ModelOptions):
    """Options of the model that writes scripts."""

    review: Literal["needed", "always"] = Field(
        "needed", description="Outputs that a model reviews: needed (only those without a metric line) or always (all)."
    )
    attempts: int = Field(3, ge=1, description="Attempts at a usable answer before a script counts as not written.")
    max_tokens: int = Field(16_384, ge=256, description="Maximum tokens of an answer, including reasoning.")
    prompt_characters: int = Field(
        80_000, ge=8_000, description="Maximum length of a prompt in characters; less for a small context window."
    )
