"""Downloads from Kaggle, Zenodo, Hugging Face and plain web addresses."""
