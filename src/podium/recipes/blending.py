"""The story of a script that blends what others have left."""

from __future__ import annotations

from collections.abc import Sequence

from podium.recipes.finishing import ending, forms, scoring
from podium.recipes.profile import Profile
from podium.recipes.scripts import assign


def blend(profile: Profile, folders: Sequence[str]) -> str:
    """A story that reads the predictions in some folders and weighs them by how they do on train rows."""
    log = profile.metric == "rmsle"
    inward, outward = ("np.log1p(np.clip({}, 0, None))", "np.expm1({})") if log else ("{}", "{}")
    return (
        assign(FOLDERS=list(folders))
        + forms(profile)
        + f"""
sample = read_sample(SAMPLE)
parts = blendable([predictions_of(folder) for folder in FOLDERS])
truth, rows = parts[0]["truth"], np.all([part["rows"] for part in parts], axis=0)
keys = pd.DataFrame(parts[0]["keys"], columns=IDS) if parts[0]["keys"].size else None
oofs = [{inward.format('part["oof"]')} for part in parts]
guesses = [{inward.format('part["guess"]')} for part in parts]


def loss(truth, oof):
    return {loss_source(profile, outward)}


weights = blend_weights(truth[rows], [oof[rows] for oof in oofs], loss)
print("weights", dict(zip(FOLDERS, weights.round(3).tolist())))
oof = {outward.format("sum(weight * oof for weight, oof in zip(weights, oofs))")}
guess = {outward.format("sum(weight * guess for weight, guess in zip(weights, guesses))")}
"""
        + ending(profile, {})
    )


def loss_source(profile: Profile, outward: str = "{}") -> str:
    """Source of what a blend should make small: the metric itself, or a smooth stand-in where classes are asked for."""
    how = scoring(profile)
    estimate = outward.format("oof")
    if not how.takes_classes:
        rises = (how.sign > 0) == profile.higher_is_better
        return f"{'-' if rises else ''}{how.function}(truth, {estimate})"
    if profile.goal == "ordinal":
        return "rmse(truth, oof)"
    return f"{'multiclass_log_loss' if profile.goal == 'multiclass' else 'log_loss'}(truth, oof)"
