"""recipe.py COLUMNS MODEL NUMBER: fits one of a few simple models to a tiny task; needs numpy and pandas alone."""

import sys

import numpy as np
import pandas as pd

train, test, sample = (pd.read_csv(f"data/{name}.csv") for name in ("train", "test", "sample_submission"))
columns, model, number = [*sys.argv[1:], "mean", "0"][:3] if len(sys.argv) > 3 else ("none", "mean", "0")
key, targets = sample.columns[0], list(sample.columns[1:])
label = next(name for name in train.columns if name not in test.columns)
shown = train[label].to_numpy()[:, None]
answers = (shown == np.array(targets)).astype(float) if len(targets) > 1 else shown.astype(float)
is_amount = len(targets) == 1 and answers.max() > 1
answers = np.log(answers) if is_amount else answers
both = pd.concat([train[test.columns], test], ignore_index=True).drop(columns=key)
parts = [np.ones((len(both), 1))]
if columns in ("numbers", "categories"):
    values = both.select_dtypes("number")
    values = values.fillna(values.median())
    parts.append(((values - values.mean()) / (values.std() + 1e-9)).to_numpy().clip(-4, 4))
if columns == "categories":
    for name in both.select_dtypes(exclude="number"):
        for start, stop in ((0, None), (0, 1), (1, 2), (4, 5), (4, 6)):
            piece = both[name].astype(str).str.slice(start, stop)
            if 1 < piece.nunique() <= 40:
                parts.append(pd.get_dummies(piece).to_numpy(float))
if columns == "words":
    text = both.select_dtypes(exclude="number").astype(str).agg(" ".join, axis=1).str.lower()
    bags = [set(words) for words in text.str.findall(r"\w+")]
    counts = pd.Series([word for bag in bags for word in bag]).value_counts()
    kept = [word for word, count in counts.items() if 3 <= count < len(both) / 2][:800]
    parts.append(np.array([[word in bag for word in kept] for bag in bags], dtype=float))
rows = np.hstack(parts)
known, wanted, middle = rows[: len(train)], rows[len(train) :], answers.mean(axis=0)
if model == "ridge":
    inner = known @ known.T + float(number) * np.eye(len(known))
    guess = wanted @ (known.T @ np.linalg.solve(inner, answers - middle)) + middle
elif model == "neighbours":
    distance = (wanted**2).sum(1)[:, None] + (known**2).sum(1) - 2 * wanted @ known.T
    guess = answers[np.argsort(distance, axis=1)[:, : int(number)]].mean(axis=1)
else:
    guess = np.tile(middle, (len(test), 1))
guess = np.exp(guess) if is_amount else np.clip(guess, 0.03, 0.97)
if len(targets) > 1:
    guess = guess / guess.sum(axis=1, keepdims=True)
pd.concat([test[[key]], pd.DataFrame(guess, columns=targets)], axis=1).to_csv("submission/submission.csv", index=False)
