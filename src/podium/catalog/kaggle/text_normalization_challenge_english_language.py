"""Text Normalization Challenge, English: how is a written token read aloud?"""

from podium.catalog.kaggle._text_normalisation import normalisation_challenge

task = normalisation_challenge(
    "text-normalization-challenge-english-language",
    title="Text Normalization Challenge - English Language",
    language="en",
    examples=[
        *[("PLAIN", word, word) for word in ("the", "is", "of", "river", "naïve", "was")],
        ("PLAIN", "colour", "color"),
        ("PLAIN", "null", "null"),
        ("PUNCT", ".", "."),
        ("PUNCT", '"', '"'),
        ("DATE", "2006", "two thousand six"),
        ("CARDINAL", "1,234", "one thousand two hundred thirty four"),
        ("ORDINAL", "2nd", "second"),
        ("LETTERS", "NA", "n a"),
        ("MEASURE", "5 km", "five kilometers"),
        ("MONEY", "£3", "three pounds"),
        ("VERBATIM", "&", "and"),
        ("ELECTRONIC", "kew.org", "k e w dot o r g"),
    ],
)
