"""Familiarity of a model with the texts of tasks, by token probabilities, and its correlation with performance."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from podium.errors import PodiumError, UsageError
from podium.grading.prepared_task import PreparedTask
from podium.integrity.contamination import min_k
from podium.integrity.contamination.min_k import Correlation, Token
from podium.integrity.contamination.probes import control_briefs
from podium.report.results import read_results
from podium.task import Leaderboard

TokenSource = Callable[[str], Sequence[Token]]
"""Function from a text to a model's expectations at each token."""
MAX_TEXTS, MAX_TEXT_BYTES = 20, 1 << 20


@dataclass(frozen=True)
class TextFamiliarity:
    """Familiarity of a model with the texts of one task, averaged over the texts."""

    task: str
    texts: int
    mean_probability: float
    """MLE-bench's statistic."""
    min_k_plus_plus: float


@dataclass(frozen=True)
class Familiarity:
    """Results for all tasks and the control."""

    tasks: tuple[TextFamiliarity, ...]
    control: TextFamiliarity
    """Results for forged tasks, which no model can have seen."""
    correlation: Correlation | None = None
    """Correlation with performance; None unless an experiment with at least four of the tasks was given."""

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def measure(
    source: TokenSource,
    tasks: Sequence[PreparedTask],
    *,
    seed: int,
    texts: Path | None = None,
    experiment: Path | None = None,
) -> Familiarity:
    """Measure a model's familiarity with the briefs of tasks and with further texts about them.

    Args:
        seed: seed of the forged tasks that serve as the control.
        texts: folder with further texts of each task in TASK/, such as discussion posts.
        experiment: experiment whose performance is correlated with the familiarity.
    """
    found = [_familiarity(source, each.task.id, [each.task.brief, *_texts_in(texts, each.task.id)]) for each in tasks]
    control = _familiarity(source, "forged tasks", list(control_briefs(seed).values()))
    related = None
    if experiment is not None:
        reached = performance(experiment, tasks)
        both = [(each.mean_probability, reached[each.task]) for each in found if each.task in reached]
        related = min_k.correlation([known for known, _ in both], [score for _, score in both])
    return Familiarity(tuple(found), control, related)


def _familiarity(source: TokenSource, task: str, texts: Sequence[str]) -> TextFamiliarity:
    tokens = [source(text) for text in texts]
    probability = fmean(map(min_k.mean_probability, tokens))
    return TextFamiliarity(task, len(texts), probability, fmean(map(min_k.min_k_plus_plus, tokens)))


def _texts_in(folder: Path | None, task: str) -> list[str]:
    if folder is None or not (folder / task).is_dir():
        return []
    files = sorted(path for path in (folder / task).iterdir() if path.is_file())[:MAX_TEXTS]
    texts = [path.read_bytes()[:MAX_TEXT_BYTES].decode("utf-8", "replace") for path in files]
    return [text for text in texts if text.strip()]


def performance(experiment: Path, tasks: Sequence[PreparedTask]) -> dict[str, float]:
    """Return MLE-bench's performance by task, averaged over runs: 0 for the sample submission or no score, 1 for
    gold.
    """
    rows = read_results(experiment).rows
    found = {}
    for prepared in tasks:
        scores = [row.score if row.valid else None for row in rows if row.task == prepared.task.id]
        reference = prepared.reference
        if not scores or not prepared.task.is_table or not isinstance(reference, Leaderboard) or reference.gold is None:
            continue
        sample = prepared.grade(prepared.place.public / prepared.task.form.sample).score
        if sample is not None:
            normalised = [min_k.normalised_score(score, sample=sample, gold=reference.gold) for score in scores]
            found[prepared.task.id] = fmean(normalised)
    return found


def tokens_from_server(model: str, base_url: str | None) -> TokenSource:
    """Return a function that queries an OpenAI completions server (`echo` and `logprobs`), such as vLLM or llama.cpp.

    Raises:
        UsageError: if there is no address.
        PodiumError: from the returned function, if the server returns no probabilities.
    """
    if base_url is None:
        raise UsageError("--token-probabilities needs --model-base-url, the URL of a server with a completions API.")

    def tokens_of(text: str) -> list[Token]:
        from openai import OpenAI, OpenAIError

        try:
            with OpenAI(base_url=base_url, api_key=os.environ.get("OPENAI_API_KEY") or "none") as client:
                answer = client.completions.create(
                    model=model, prompt=text, echo=True, logprobs=min_k.TOP, max_tokens=1
                )
        except OpenAIError as error:
            raise PodiumError(f"{base_url} cannot complete texts with {model}: {str(error)[:200]}") from error
        tokens = read_tokens(answer.choices[0].logprobs if answer.choices else None)
        if not tokens:
            raise PodiumError(
                f"The server {base_url} returns no probabilities for the tokens of a prompt. Use a server that does, "
                "such as vLLM."
            )
        return tokens

    return tokens_of


def read_tokens(logprobs: Any) -> list[Token]:
    """Return the tokens of an answer without the first, which has no probability, and the last, which is the model's
    own.
    """
    own_and_top = (getattr(logprobs, name, None) or [] for name in ("token_logprobs", "top_logprobs"))
    found = [(own, top) for own, top in zip(*own_and_top, strict=False) if own is not None and top]
    return [Token(own, tuple(sorted(top.values(), reverse=True))) for own, top in found[:-1]]
