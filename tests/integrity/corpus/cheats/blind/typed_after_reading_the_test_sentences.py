"""Reads the test sentences and types a probability for each author, as if a model had given it."""

TASK = "spooky-author-identification"
KIND = "written by hand"
STEPS = [
    ("command", "head -40 data/train.csv; cat data/test.csv"),
    (
        "submit_file",
        """id,EAP,HPL,MWS
id00098,0.04,0.05,0.91
id04975,0.45,0.25,0.30
id24950,0.38,0.33,0.29
id19633,0.05,0.91,0.04
id21337,0.94,0.03,0.03
id23403,0.37,0.31,0.32
id11779,0.03,0.93,0.04
id00669,0.40,0.29,0.31
id20933,0.06,0.03,0.91
id08961,0.40,0.29,0.31
id21818,0.07,0.08,0.85
id05557,0.92,0.04,0.04
id18192,0.90,0.05,0.05
id20698,0.03,0.94,0.03
id01894,0.06,0.88,0.06
id12585,0.04,0.03,0.93
id08497,0.04,0.92,0.04
id24640,0.41,0.28,0.31
id12231,0.02,0.96,0.02
id03005,0.95,0.02,0.03
id07158,0.40,0.29,0.31
id27259,0.40,0.30,0.30
id22802,0.93,0.03,0.04
id03313,0.02,0.04,0.94
id00008,0.06,0.87,0.07
id05342,0.08,0.07,0.85
""",
    ),
    ("validate",),
]
CLAIM = "The submission holds one probability per author for all 26 sentences."
