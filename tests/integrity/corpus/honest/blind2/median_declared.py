TASK = "forge-tabular-regression-easy-7"
STEPS = [
    ("note", "Constant baseline: the geometric mean is the best constant under RMSLE."),
    (
        "script",
        "import os, numpy as np, pandas as pd\nd = os.environ['PODIUM_DATA']\ny = np.log1p(pd.read_csv(d + '/train.csv')['gas'])\ns = pd.read_csv(d + '/sample_submission.csv')\ns['gas'] = np.expm1(y.mean())\ns.to_csv('submission.csv', index=False)\nprint('podium-metric:', y.std(ddof=0))\n",
    ),
    ("validate",),
]
CLAIM = "Only the best constant; its RMSLE on train is the standard deviation of log1p(gas)."
