"""The body of a script that blends the predictions of others."""

from __future__ import annotations

from collections.abc import Sequence

from podium.recipes.finishing import ending, loss_source, output_constants
from podium.recipes.profile import Profile
from podium.recipes.scripts import assign

BLEND = "blend"
"""What the headers of such scripts name as their recipe."""


def blend_body(profile: Profile, folders: Sequence[str]) -> str:
    """A body that weights the predictions in some folders by how they do on train rows."""
    is_log = profile.metric == "rmsle"
    inward, outward = ("np.log1p(np.clip({}, 0, None))", "np.expm1({})") if is_log else ("{}", "{}")
    return f"""{assign(FOLDERS=list(folders))}{output_constants(profile)}
sample = read_sample(SAMPLE)
parts = compatible_predictions([load_predictions(folder) for folder in FOLDERS])
truth, rows = parts[0]["truth"], np.all([part["rows"] for part in parts], axis=0)
keys = pd.DataFrame(parts[0]["keys"], columns=IDS) if parts[0]["keys"].size else None
oofs = [{inward.format('part["oof"]')} for part in parts]
predictions = [{inward.format('part["prediction"]')} for part in parts]


def loss(truth, oof):
    return {loss_source(profile, outward)}


weights = blend_weights(truth[rows], [oof[rows] for oof in oofs], loss)
print("weights", dict(zip(FOLDERS, weights.round(3).tolist())))
oof = {outward.format("weighted_sum(weights, oofs)")}
prediction = {outward.format("weighted_sum(weights, predictions)")}
{ending(profile, {})}"""
