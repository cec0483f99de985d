"""What is said on a board: every entry of its ledger is one of these, signed by whoever says it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from podium.board.keys import Key, Signed
from podium.errors import BoardError

STATEMENT_BYTES = 256 << 10
"""No statement is longer."""
Hash = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
TaskName = Annotated[str, Field(pattern=r"^[\w@-][\w.@-]{0,199}$")]
MOST_LETTERS = 2000
"""Letters that people may write in one place."""
Words = Annotated[str, Field(max_length=MOST_LETTERS)]


class _Statement(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    board: Hash
    """The key of the board it was said to: said to one, it cannot be repeated to another."""


class Registration(_Statement):
    """An experiment made known before its first run. Its digest is its id."""

    kind: Literal["registration"] = "registration"
    plan_sha256: Hash
    method_sha256: Hash | None = None
    """The part of the plan that decides results; registrations of earlier versions do not name it."""
    tasks: Annotated[list[TaskName], Field(min_length=1, max_length=2000)]
    seeds: Annotated[int, Field(ge=1, le=10_000)]
    data: dict[TaskName, Hash]
    """By task, the content of its data."""
    podium: Words
    """Podium's version."""
    podium_sha256: Hash
    """Podium's own source files."""
    nonce: Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]


class Anchor(_Statement):
    """How far the journal of a registered run has come."""

    kind: Literal["anchor"] = "anchor"
    registration: Hash
    task: TaskName
    seed: Annotated[int, Field(ge=0)]
    lines: Annotated[int, Field(ge=1)]
    head: Hash
    """Of the journal's last line."""
    state: Literal["started", "running", "ended"]


class Withdrawal(_Statement):
    """Whoever registered an experiment gives it up, and says why."""

    kind: Literal["withdrawal"] = "withdrawal"
    registration: Hash
    reason: Words


class Publication(_Statement):
    """A publisher hands in a bundle."""

    kind: Literal["publication"] = "publication"
    bundle: Hash
    registration: Hash | None


class DecisionStatement(_Statement):
    """What the keeper of the board decides about a bundle; the latest counts."""

    kind: Literal["decision"] = "decision"
    bundle: Hash
    verdict: Literal["accepted", "refused", "removed", "rescored"]
    reason: Words
    row: dict[str, Any] | None = None
    """What the board shows, as it was computed by the check."""


class ReproductionStatement(_Statement):
    """Somebody ran the code behind a submission again."""

    kind: Literal["reproduction"] = "reproduction"
    bundle: Hash
    task: TaskName
    seed: Annotated[int, Field(ge=0)]
    outcome: Literal["identical", "equivalent", "different", "not reproducible"]
    detail: Words


class Head(_Statement):
    """The root of the whole ledger at a moment, signed by the board: nothing before can be changed unseen."""

    kind: Literal["head"] = "head"
    size: Annotated[int, Field(ge=0)]
    root: Hash
    time: str


Statement = Registration | Anchor | Withdrawal | Publication | DecisionStatement | ReproductionStatement
_STATEMENTS: TypeAdapter[Statement] = TypeAdapter(Annotated[Statement, Field(discriminator="kind")])


def parse_statement(signed: Signed) -> Statement:
    """What a signed statement says.

    Raises:
        BoardError: nothing that is said on a board.
    """
    try:
        return _STATEMENTS.validate_python(signed.statement)
    except (ValidationError, RecursionError) as error:
        raise BoardError(f"This is not a statement of a board: {first_problem(error)}") from error


def parse_head(document: Any) -> tuple[Signed, Head]:
    """A signed head as it stands in a file or an answer.

    Raises:
        BoardError: it is not one, or not signed by the board it names.
    """
    signed = Signed.from_dict(document)
    try:
        head = Head.model_validate(signed.statement)
    except ValidationError as error:
        raise BoardError(f"This is not the head of a ledger: {first_problem(error)}") from error
    if head.board != signed.key:
        raise BoardError(f"The head names board {head.board[:16]}, but key {signed.key[:16]} signed it.")
    return signed, head


def sign(statement: _Statement, key: Key) -> Signed:
    """A statement with a signature."""
    return key.sign(statement.model_dump(mode="json"))


def first_problem(error: Exception) -> str:
    """The first thing that is wrong with a document, in one line."""
    if not isinstance(error, ValidationError):
        return str(error)
    first = error.errors(include_url=False, include_input=False)[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"[:300]
