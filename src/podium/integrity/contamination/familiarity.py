"""How probable a model finds the texts of tasks, token by token, and whether the tasks it knows better go better."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from podium.errors import PodiumError, UsageError
from podium.grading.prepared_task import PreparedTask
from podium.integrity.contamination import token_familiarity
from podium.integrity.contamination.probes import control_briefs
from podium.integrity.contamination.token_familiarity import Correlation, Token
from podium.report.results import read_results
from podium.task import Leaderboard

TellTokens = Callable[[str], Sequence[Token]]
"""Gives what a model expected at each token of a text."""
MOST_TEXTS, TEXT_BYTES = 20, 1 << 20


@dataclass(frozen=True)
class TextFamiliarity:
    """How familiar the texts of one task are to a model, averaged over the texts."""

    task: str
    texts: int
    mean_probability: float
    """MLE-bench's statistic."""
    min_k_plus_plus: float


@dataclass(frozen=True)
class Familiarity:
    """What the probabilities of tokens say."""

    tasks: tuple[TextFamiliarity, ...]
    control: TextFamiliarity
    """The same of forged tasks, which nobody can have seen."""
    correlation: Correlation | None = None
    """With performance, if an experiment was given that has at least four of the tasks."""

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def measure(
    tell: TellTokens,
    tasks: Sequence[PreparedTask],
    *,
    seed: int,
    texts: Path | None = None,
    experiment: Path | None = None,
) -> Familiarity:
    """How familiar the briefs of tasks are, and what stands about them in files.

    Args:
        seed: of the forged tasks that are the control.
        texts: a folder with further texts of each task in TASK/, such as discussion posts.
        experiment: what the correlation is computed with.
    """
    found = [_familiarity(tell, each.task.id, [each.task.brief, *_texts_in(texts, each.task.id)]) for each in tasks]
    control = _familiarity(tell, "forged tasks", list(control_briefs(seed).values()))
    related = None
    if experiment is not None:
        reached = performance(experiment, tasks)
        both = [(each.mean_probability, reached[each.task]) for each in found if each.task in reached]
        related = token_familiarity.correlation([known for known, _ in both], [score for _, score in both])
    return Familiarity(tuple(found), control, related)


def _familiarity(tell: TellTokens, task: str, texts: Sequence[str]) -> TextFamiliarity:
    tokens = [tell(text) for text in texts]
    probability = fmean(map(token_familiarity.mean_probability, tokens))
    return TextFamiliarity(task, len(texts), probability, fmean(map(token_familiarity.min_k_plus_plus, tokens)))


def _texts_in(folder: Path | None, task: str) -> list[str]:
    if folder is None or not (folder / task).is_dir():
        return []
    files = sorted(path for path in (folder / task).iterdir() if path.is_file())[:MOST_TEXTS]
    texts = [path.read_bytes()[:TEXT_BYTES].decode("utf-8", "replace") for path in files]
    return [text for text in texts if text.strip()]


def performance(experiment: Path, tasks: Sequence[PreparedTask]) -> dict[str, float]:
    """By task MLE-bench's performance, averaged over runs: 0 for the sample submission or no score, 1 for gold."""
    rows = read_results(experiment).rows
    found = {}
    for prepared in tasks:
        scores = [row.score if row.valid else None for row in rows if row.task == prepared.task.id]
        reference = prepared.reference
        if not scores or not prepared.task.is_table or not isinstance(reference, Leaderboard) or reference.gold is None:
            continue
        sample = prepared.grade(prepared.place.public / prepared.task.form.sample).score
        if sample is not None:
            normalised = [
                token_familiarity.normalised_score(score, sample=sample, gold=reference.gold) for score in scores
            ]
            found[prepared.task.id] = fmean(normalised)
    return found


def from_server(model: str, base_url: str | None) -> TellTokens:
    """Asks a server with OpenAI's completions (`echo` and `logprobs`), as vLLM and llama.cpp have them.

    Raises:
        UsageError: no address is given.
        PodiumError: when asked, if the server does not tell.
    """
    if base_url is None:
        raise UsageError("--token-probabilities needs --model-base-url: the address of a server with completions.")

    def tell(text: str) -> list[Token]:
        from openai import OpenAI, OpenAIError

        try:
            with OpenAI(base_url=base_url, api_key=os.environ.get("OPENAI_API_KEY") or "none") as client:
                answer = client.completions.create(
                    model=model, prompt=text, echo=True, logprobs=token_familiarity.TOP, max_tokens=1
                )
        except OpenAIError as error:
            raise PodiumError(f"{base_url} does not complete texts with {model}: {str(error)[:200]}") from error
        tokens = read_tokens(answer.choices[0].logprobs if answer.choices else None)
        if not tokens:
            raise PodiumError(
                f"{base_url} gives no probabilities of the tokens of a prompt. Serve the model with something that "
                "does, such as vLLM."
            )
        return tokens

    return tell


def read_tokens(logprobs: Any) -> list[Token]:
    """The tokens of an answer; the first has no probability, and the last is the model's own."""
    own_and_top = (getattr(logprobs, name, None) or [] for name in ("token_logprobs", "top_logprobs"))
    found = [(own, top) for own, top in zip(*own_and_top, strict=False) if own is not None and top]
    return [Token(own, tuple(sorted(top.values(), reverse=True))) for own, top in found[:-1]]
