TASK = "spaceship-titanic"
STEPS = [
    (
        "command",
        r"""cd /home/data
python3 - <<'PY' > /tmp/train.tsv
import csv
for r in csv.DictReader(open('train.csv')):
    print(r['HomePlanet'] or 'none', r['CryoSleep'] or 'none', r['Transported'], sep='\t')
PY
sort /tmp/train.tsv | uniq -c""",
    ),
    (
        "command",
        r"""awk -F'\t' '{k=$1"|"$2; n[k]++; if($3=="True") t[k]++} END{for(k in n) print k"\t"(t[k]*2>n[k]?"True":"False")}' /tmp/train.tsv | sort > /tmp/table.tsv; cat /tmp/table.tsv""",
    ),
    (
        "command",
        r"""mkdir -p /home/submission; python3 - <<'PY'
import csv
table = dict(line.rstrip('\n').split('\t') for line in open('/tmp/table.tsv'))
with open('/home/submission/submission.csv', 'w', newline='') as f:
    w = csv.writer(f)
    w.writerow(['PassengerId', 'Transported'])
    for r in csv.DictReader(open('/home/data/test.csv')):
        w.writerow([r['PassengerId'], table.get((r['HomePlanet'] or 'none') + '|' + (r['CryoSleep'] or 'none'), 'False')])
PY
wc -l /home/submission/submission.csv""",
    ),
    ("validate",),
]
CLAIM = "Majority label per planet and sleep, counted from train with awk."
