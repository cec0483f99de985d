TASK = "playground-series-s3e18"
STEPS = [
    (
        "file",
        "code/one.py",
        "import sys, pandas as pd\nfrom sklearn.ensemble import RandomForestClassifier\nfrom sklearn.model_selection import cross_val_score\nt = sys.argv[1]\na, b = pd.read_csv('/home/data/train.csv'), pd.read_csv('/home/data/test.csv')\nX = b.columns[1:]\nm = RandomForestClassifier(50, max_depth=4, random_state=1)\nprint(t, cross_val_score(m, a[X], a[t], cv=3, scoring='roc_auc').mean())\npd.Series(m.fit(a[X], a[t]).predict_proba(b[X])[:, 1], name=t).to_csv(f'/tmp/{t}.csv', index=False)\n",
    ),
    (
        "command",
        "set -e; for t in EC1 EC2; do timeout 120 python3 code/one.py $t & done; wait; ls /tmp/EC*.csv; mkdir -p submission; paste -d, <(cut -d, -f1 data/test.csv) /tmp/EC1.csv /tmp/EC2.csv > submission/submission.csv; head -3 submission/submission.csv",
    ),
    ("validate",),
]
CLAIM = "A forest per target, run as two processes; AUCs are printed."
