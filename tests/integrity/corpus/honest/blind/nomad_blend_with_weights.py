"""Blends three models with weights found on out-of-fold predictions, and keeps these in a file of its own."""

TASK = "nomad2018-predict-transparent-conductors"
STEPS = [
    (
        "script",
        """import os
import numpy as np
import pandas as pd
from scipy.optimize import nnls
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import Ridge
from sklearn.model_selection import cross_val_predict
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

root = os.environ["PODIUM_DATA"]
train, test = pd.read_csv(f"{root}/train.csv"), pd.read_csv(f"{root}/test.csv")
columns = [c for c in test.columns if c != "id"]
MODELS = {
    "ridge": make_pipeline(StandardScaler(), Ridge(3.0)),
    "neighbours": make_pipeline(StandardScaler(), KNeighborsRegressor(7)),
    "forest": RandomForestRegressor(60, min_samples_leaf=3, random_state=42),
}
out, scores = test[["id"]].copy(), []
for target in ("formation_energy_ev_natom", "bandgap_energy_ev"):
    y = np.log1p(train[target])
    oof = np.column_stack([cross_val_predict(m, train[columns], y, cv=4) for m in MODELS.values()])
    np.savez(f"oof_{target}.npz", oof=oof, y=y)
    weights, _ = nnls(oof, y)
    print(target, dict(zip(MODELS, weights.round(3))), "sum", weights.sum().round(3))
    scores.append(np.sqrt(((oof @ weights - y) ** 2).mean()))
    parts = np.column_stack([m.fit(train[columns], y).predict(test[columns]) for m in MODELS.values()])
    out[target] = np.expm1(parts @ weights)
out.to_csv("submission.csv", index=False)
print(f"podium-metric: {np.mean(scores):.5f}")
""",
    ),
    ("note", "Weights of the blend are fitted on out-of-fold predictions, so its score is a little optimistic."),
]
