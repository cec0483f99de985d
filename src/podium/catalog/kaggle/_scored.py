"""Competitions that score some of the rows and let the others be blank."""

import numpy as np
import pandas as pd

from podium.errors import InvalidSubmission


def scored_numbers(submission: pd.DataFrame, scored: np.ndarray, columns: list[str], id: str) -> np.ndarray:  # noqa: A002
    """The cells of the scored rows, a column each; none of them may be blank."""
    rows = submission[scored]
    for column in columns:
        blank = rows.loc[rows[column].isna(), id]
        if len(blank):
            others = f" ({len(blank)} such cells)" if len(blank) > 1 else ""
            raise InvalidSubmission(f"Column '{column}', id {blank.iloc[0]}: a scored cell is blank{others}.")
    return rows[columns].to_numpy(np.float64)
