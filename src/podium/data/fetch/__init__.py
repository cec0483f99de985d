"""Downloads from Kaggle, Zenodo, Hugging Face and other web sites."""
