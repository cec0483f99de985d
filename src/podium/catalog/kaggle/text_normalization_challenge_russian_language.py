"""Text Normalization Challenge, Russian: how is a written token read aloud?"""

from podium.catalog.kaggle._text_normalisation import normalisation_challenge
from podium.data.building_blocks import lines_beside

task = normalisation_challenge(
    "text-normalization-challenge-russian-language",
    title="Text Normalization Challenge - Russian Language",
    language="ru",
    examples=lines_beside(__file__),
)
