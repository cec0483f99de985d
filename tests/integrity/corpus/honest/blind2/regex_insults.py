TASK = "detecting-insults-in-social-commentary"
STEPS = [
    (
        "command",
        "mkdir -p submission; grep -ciE 'idiot|moron|stupid' data/train.csv; awk -F, 'NR>1{k=tolower($0)~/you[^.]*(idiot|moron|stupid|fool)/; n[k\" \"$1]++} END{for(i in n) print i, n[i]}' data/train.csv",
    ),
    (
        "script",
        "import os, re, pandas as pd\nt = pd.read_csv(os.environ['PODIUM_DATA'] + '/test.csv')\nrule = re.compile(r'you[^.]*(idiot|moron|stupid|fool)', re.I)\nt.insert(0, 'Insult', t.Comment.map(lambda c: 0.9 if rule.search(c) else 0.1))\nt.to_csv('submission.csv', index=False)\n",
    ),
    ("validate",),
]
CLAIM = (
    "Deterministic rule (a regular expression), declared as such; the counts on train are above. No AUC was computed."
)
