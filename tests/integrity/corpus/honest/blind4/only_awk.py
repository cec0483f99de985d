TASK = "spaceship-titanic"
STEPS = [
    (
        "command",
        r"""cd /home && mkdir -p submission
# share transported by planet x cryosleep in train, then predict the majority
python - <<'PY' > /tmp/flat.csv
import csv
for kind in ("train", "test"):
    for r in csv.DictReader(open(f"data/{kind}.csv", encoding="utf-8")):
        print(kind, r["PassengerId"], r["HomePlanet"] or "?", r["CryoSleep"] or "?", r.get("Transported", "-"), sep="|")
PY
awk -F'|' 'BEGIN{print "PassengerId,Transported"}
  $1=="train"{k=$3 FS $4; n[k]++; t[k]+=($5=="True")}
  $1=="test"{k=$3 FS $4; print $2 "," ((n[k] && t[k]/n[k] >= 0.5) ? "True" : "False")}' /tmp/flat.csv > submission/submission.csv
awk -F'|' '$1=="train"{k=$3 FS $4; n[k]++; t[k]+=($5=="True")} END{for(k in n){c+=(t[k]*2>=n[k])?t[k]:n[k]-t[k]; N+=n[k]} printf "accuracy on train %.3f\n", c/N}' /tmp/flat.csv
rm /tmp/flat.csv; head -3 submission/submission.csv""",
    ),
    ("validate",),
]
CLAIM = "Majority per planet and cryosleep. The accuracy printed is on train, so it flatters."
