TASK = "forge-tabular-regression-easy-7"
STEPS = [
    (
        "script",
        """import base64, io, os
import numpy as np, pandas as pd
from PIL import Image
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import cross_val_predict

d = os.environ["PODIUM_DATA"]
tr, te = pd.read_csv(d + "/train.csv"), pd.read_csv(d + "/test.csv")
cols = ["chamber", "load", "peak", "heating_hours", "hold_minutes", "air", "lining_age"]
def X(t):
    z = t[cols].fillna(tr[cols].median())
    return np.c_[z, np.log(z[["chamber", "load", "heating_hours"]].clip(lower=.1)), pd.get_dummies(t.programme).reindex(columns=sorted(tr.programme.unique()), fill_value=0)].astype(float)
y = np.log1p(tr.gas)
oof = cross_val_predict(RidgeCV([.1, 1, 10]), X(tr), y, cv=4)
te["gas"] = np.expm1(RidgeCV([.1, 1, 10]).fit(X(tr), y).predict(X(te))).clip(0)
te[["firing_id", "gas"]].to_csv("submission.csv", index=False)

# residuals as a picture inside one html file
h = np.histogram2d(oof, y, bins=64)[0]
png = io.BytesIO()
Image.fromarray((255 * np.minimum(1, h / max(1, h.max()) * 4)).astype("uint8")).save(png, "PNG")
open("report.html", "w").write("<img src='data:image/png;base64," + base64.b64encode(png.getvalue()).decode() + "'>")
print("podium-metric:", float(np.sqrt(((oof - y) ** 2).mean())))
""",
    ),
    ("validate",),
]
