"""Statements: the signed content of a ledger's entries."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from podium.board.keys import Key, Signed
from podium.errors import BoardError

STATEMENT_BYTES = 256 << 10
"""Maximum size of a statement."""
Hash = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
TaskName = Annotated[str, Field(pattern=r"^[\w@-][\w.@-]{0,199}$")]
MAX_TEXT_CHARACTERS = 2000
"""Maximum length of a free-text field."""
Words = Annotated[str, Field(max_length=MAX_TEXT_CHARACTERS)]


class _Statement(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    board: Hash
    """Public key of the board that the statement is for, so that it cannot be replayed on another board."""


class Registration(_Statement):
    """Registration of an experiment before its first run. Its digest is its id."""

    kind: Literal["registration"] = "registration"
    plan_sha256: Hash
    method_sha256: Hash | None = None
    """Hash of the parts of the plan that affect results; earlier versions lack it."""
    tasks: Annotated[list[TaskName], Field(min_length=1, max_length=2000)]
    seeds: Annotated[int, Field(ge=1, le=10_000)]
    data: dict[TaskName, Hash]
    """Hash of each task's data."""
    podium: Words
    """Version of Podium."""
    podium_sha256: Hash
    """Hash of Podium's own source files."""
    nonce: Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]


class Anchor(_Statement):
    """Journal head of a registered run at some time."""

    kind: Literal["anchor"] = "anchor"
    registration: Hash
    task: TaskName
    seed: Annotated[int, Field(ge=0)]
    lines: Annotated[int, Field(ge=1)]
    head: Hash
    """Hash of the journal's last line."""
    state: Literal["started", "running", "ended"]


class Withdrawal(_Statement):
    """Withdrawal of a registration by its author, with a reason."""

    kind: Literal["withdrawal"] = "withdrawal"
    registration: Hash
    reason: Words


class Publication(_Statement):
    """Publication of a bundle."""

    kind: Literal["publication"] = "publication"
    bundle: Hash
    registration: Hash | None


class DecisionStatement(_Statement):
    """Decision of the board's keeper about a bundle; the latest counts."""

    kind: Literal["decision"] = "decision"
    bundle: Hash
    verdict: Literal["accepted", "refused", "removed", "rescored"]
    reason: Words
    row: dict[str, Any] | None = None
    """Row of the entry as computed by the check."""


class ReproductionStatement(_Statement):
    """Result of running the code behind a submission again."""

    kind: Literal["reproduction"] = "reproduction"
    bundle: Hash
    task: TaskName
    seed: Annotated[int, Field(ge=0)]
    outcome: Literal["identical", "equivalent", "different", "not reproducible"]
    detail: Words


class Head(_Statement):
    """Root of the whole ledger at some time, signed by the board to make changes evident."""

    kind: Literal["head"] = "head"
    size: Annotated[int, Field(ge=0)]
    root: Hash
    time: str


Statement = Registration | Anchor | Withdrawal | Publication | DecisionStatement | ReproductionStatement
_STATEMENTS: TypeAdapter[Statement] = TypeAdapter(Annotated[Statement, Field(discriminator="kind")])


def parse_statement(signed: Signed) -> Statement:
    """Parse a signed statement.

    Raises:
        BoardError: It is not a statement of a board.
    """
    try:
        return _STATEMENTS.validate_python(signed.statement)
    except (ValidationError, RecursionError) as error:
        raise BoardError(f"The statement is invalid: {first_problem(error)}") from error


def parse_head(document: Any) -> tuple[Signed, Head]:
    """Parse a signed head.

    Raises:
        BoardError: It is not a head, or is not signed by the board it names.
    """
    signed = Signed.from_dict(document)
    try:
        head = Head.model_validate(signed.statement)
    except ValidationError as error:
        raise BoardError(f"The file is not the head of a ledger: {first_problem(error)}") from error
    if head.board != signed.key:
        raise BoardError(f"The head names board {head.board[:16]}, but key {signed.key[:16]} signed it.")
    return signed, head


def sign(statement: _Statement, key: Key) -> Signed:
    """Sign a statement."""
    return key.sign(statement.model_dump(mode="json"))


def first_problem(error: Exception) -> str:
    """Return the first problem of an invalid document in one line."""
    if not isinstance(error, ValidationError):
        return str(error)
    first = error.errors(include_url=False, include_input=False)[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"[:300]
