"""Text Normalization Challenge, Russian: how is a written token read aloud?"""

from podium.catalog.kaggle._text_normalisation import normalisation_challenge

task = normalisation_challenge(
    "text-normalization-challenge-russian-language",
    title="Text Normalization Challenge - Russian Language",
    language="ru",
    examples=[
        *[("PLAIN", word, word) for word in ("По", "на", "ёлка", "река", "была", "город")],
        ("PLAIN", "NA", "NA"),
        ("PLAIN", "Kew", "к_trans ь_trans ю_trans"),
        ("PUNCT", ",", ","),
        ("PUNCT", "«", "«"),
        ("DATE", "1862 год", "тысяча восемьсот шестьдесят второй год"),
        ("CARDINAL", "5", "пять"),
        ("ORDINAL", "II", "второго"),
        ("LETTERS", "СССР", "с с с р"),
        ("DECIMAL", "0,07", "ноль целых и семь сотых"),
        ("MEASURE", "3 км²", "три квадратных километра"),
        ("TIME", "15:30", "пятнадцать тридцать"),
        ("VERBATIM", "&", "и"),
    ],
)
