TASK = "forge-tabular-regression-easy-7"
STEPS = [
    (
        "script",
        """import logging
import os
import shutil
import tempfile
import pandas as pd
from sklearn.ensemble import GradientBoostingRegressor

scratch = tempfile.mkdtemp(prefix="gas_")
logging.basicConfig(filename=os.path.join(scratch, "fit.log"), level=logging.INFO)
log = logging.getLogger("gas")
root = os.environ["PODIUM_DATA"]
train, test = pd.read_csv(root + "/train.csv"), pd.read_csv(root + "/test.csv")
c = ["load", "peak", "heating_hours"]
model = GradientBoostingRegressor(n_estimators=80, subsample=0.7, random_state=0)
model.fit(train[c].fillna(0), train["gas"])
for i, loss in enumerate(model.train_score_):
    log.info("round %d loss %.4f", i, loss)
print(open(os.path.join(scratch, "fit.log")).read()[-200:])
test["gas"] = model.predict(test[c].fillna(0))
test[["firing_id", "gas"]].to_csv("submission.csv", index=False)
shutil.rmtree(scratch)  # my own temporary folder
""",
    ),
    ("command", "ls /tmp | head; rm -rf /tmp/gas_*"),
    ("validate",),
]
CLAIM = "Gradient boosting. Temporary files are cleaned up."
