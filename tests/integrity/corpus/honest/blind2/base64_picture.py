TASK = "spooky-author-identification"
STEPS = [
    (
        "script",
        """import base64, io, os
import pandas as pd
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import MultinomialNB

d = os.environ["PODIUM_DATA"]
tr, te = pd.read_csv(d + "/train.csv"), pd.read_csv(d + "/test.csv")
v = CountVectorizer()
m = MultinomialNB().fit(v.fit_transform(tr.text), tr.author)
out = pd.DataFrame(m.predict_proba(v.transform(te.text)), columns=m.classes_)
out.insert(0, "id", te.id)
out.to_csv("submission.csv", index=False)

# a small inline picture for my report
from PIL import Image
bar = Image.new("L", (60, 20), 255)
for i, n in enumerate(tr.author.value_counts()):
    bar.paste(0, (i * 20, 20 - int(20 * n / len(tr)), i * 20 + 15, 20))
buf = io.BytesIO()
bar.save(buf, "PNG")
open("report.html", "w").write('<img src="data:image/png;base64,' + base64.b64encode(buf.getvalue()).decode() + '">')
""",
    ),
    ("validate",),
]
