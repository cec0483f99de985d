"""Text Normalization Challenge, English: how is a written token read aloud?"""

from podium.catalog.kaggle._text_normalisation import normalisation_challenge
from podium.data.building_blocks import lines_beside

task = normalisation_challenge(
    "text-normalization-challenge-english-language",
    title="Text Normalization Challenge - English Language",
    language="en",
    examples=lines_beside(__file__),
)
