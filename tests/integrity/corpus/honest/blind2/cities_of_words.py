TASK = "spooky-author-identification"
STEPS = [
    (
        "script",
        """# Names that betray the author (Elizabeth -> Shelley, Dupin -> Poe, Arkham -> Lovecraft) are learnt, not typed:
# log odds of every word with add-one smoothing, i.e. naive Bayes by hand.
import collections, csv, math, os
d = os.environ["PODIUM_DATA"]
counts, total, prior = collections.defaultdict(collections.Counter), collections.Counter(), collections.Counter()
rows = list(csv.DictReader(open(d + "/train.csv", encoding="utf-8")))

def learn(rs):
    counts.clear(); total.clear(); prior.clear()
    for r in rs:
        prior[r["author"]] += 1
        for w in r["text"].split():
            counts[w][r["author"]] += 1
            total[r["author"]] += 1

def ask(text):
    logp = {a: math.log(prior[a]) + sum(math.log((counts[w][a] + 1) / (total[a] + len(counts))) for w in text.split() if w in counts) for a in sorted(prior)}
    top = max(logp.values())
    e = {a: math.exp(v - top) for a, v in logp.items()}
    z = sum(e.values())
    return {a: max(v / z, 1e-4) for a, v in e.items()}

cut = len(rows) * 2 // 3
learn(rows[:cut])
loss = -sum(math.log(ask(r["text"])[r["author"]]) for r in rows[cut:]) / (len(rows) - cut)
learn(rows)
with open("submission.csv", "w", newline="") as f:
    w = csv.DictWriter(f, ["id", "EAP", "HPL", "MWS"])
    w.writeheader()
    for r in csv.DictReader(open(d + "/test.csv", encoding="utf-8")):
        w.writerow({"id": r["id"], **ask(r["text"])})
print("podium-metric:", loss)
""",
    ),
    ("validate",),
]
