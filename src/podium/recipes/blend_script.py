"""Body of a script that blends the predictions of other scripts."""

from __future__ import annotations

from collections.abc import Sequence

from podium.recipes.script_ending import ending, loss_source, output_constants
from podium.recipes.script_writer import assign
from podium.tables.profile import Profile

BLEND = "blend"
"""Recipe name in the headers of blend scripts."""


def blend_body(profile: Profile, folders: Sequence[str]) -> str:
    """Return a body that weights the predictions in some folders by their loss on train rows."""
    is_log = profile.metric == "rmsle"
    inward = "np.log1p(np.clip({}, 0, None))" if is_log else "{}"
    back = "oof, prediction = np.expm1(oof), np.expm1(prediction)\n" if is_log else ""
    return f"""{assign(FOLDERS=list(folders))}{output_constants(profile)}
sample = read_sample(SAMPLE)
parts = compatible_predictions([load_predictions(folder) for folder in FOLDERS])
truth = parts[0]["truth"]
keys = pd.DataFrame(parts[0]["keys"], columns=IDS) if parts[0]["keys"].size else None
members = {{
    str(number): ({inward.format('part["oof"]')}, {inward.format('part["prediction"]')}, part["rows"])
    for number, part in enumerate(parts)
}}


def loss(truth, oof):
    return {"rmse(truth, oof)" if is_log else loss_source(profile)}


oof, prediction, rows = blend(members, {inward.format("truth")}, loss)
{back}{ending(profile, {})}"""
