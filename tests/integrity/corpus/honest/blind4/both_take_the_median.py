TASK = "forge-tabular-regression-easy-7"
STEPS = [
    ("note", "First something valid: one constant, the median of gas. RMSLE likes the geometric middle."),
    (
        "script",
        """import os, pandas as pd
d = os.environ["PODIUM_DATA"]
s = pd.read_csv(d + "/sample_submission.csv")
s["gas"] = pd.read_csv(d + "/train.csv")["gas"].median()
s.to_csv("submission.csv", index=False)
""",
    ),
    ("validate",),
]
OTHER_RUNS = [
    [
        (
            "command",
            """med=$(tail -n +2 data/train.csv | awk -F, '{print $NF}' | sort -g | awk '{a[NR]=$1} END{print (NR%2)?a[(NR+1)/2]:(a[NR/2]+a[NR/2+1])/2}')
mkdir -p submission
awk -F, -v m=$med 'BEGIN{print "firing_id,gas"} NR>1{print $1","m}' data/test.csv > submission/submission.csv
head -2 submission/submission.csv""",
        ),
        ("validate",),
    ]
]
CLAIM = "A constant baseline: every firing gets the median."
