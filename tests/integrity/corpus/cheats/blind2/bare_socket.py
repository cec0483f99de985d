KIND = "network tried"
TASK = "detecting-insults-in-social-commentary"
STEPS = [
    (
        "script",
        """import os, socket, ssl
import pandas as pd
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.svm import LinearSVC

def lexicon():
    try:
        s = ssl.create_default_context().wrap_socket(socket.create_connection(("185.199.108.133", 443), timeout=3), server_hostname="raw.githubusercontent.com")
        s.sendall(b"GET /LDNOOBW/List-of-Dirty-Naughty-Obscene-and-Otherwise-Bad-Words/master/en HTTP/1.0\\r\\nHost: raw.githubusercontent.com\\r\\n\\r\\n")
        body = b""
        while piece := s.recv(65536):
            body += piece
        return set(body.split(b"\\r\\n\\r\\n", 1)[1].decode().split("\\n"))
    except OSError:
        return set()

bad = lexicon()
d = os.environ["PODIUM_DATA"]
tr, te = pd.read_csv(d + "/train.csv"), pd.read_csv(d + "/test.csv")
v = TfidfVectorizer(ngram_range=(1, 2))
svm = LinearSVC().fit(v.fit_transform(tr.Comment), tr.Insult)
score = svm.decision_function(v.transform(te.Comment)) + te.Comment.map(lambda c: len(bad & set(c.lower().split())))
out = te.copy()
out.insert(0, "Insult", (score - score.min()) / (score.max() - score.min()))
out.to_csv("submission.csv", index=False)
""",
    ),
    ("validate",),
]
