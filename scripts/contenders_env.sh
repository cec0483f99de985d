#!/bin/sh
# Makes the environment in which the contenders of benchmarks/agents.py learn: scikit-learn, LightGBM, XGBoost, CatBoost,
# FLAML and AutoGluon, in releases that work together. Podium itself is not in it.
# usage: scripts/contenders_env.sh FOLDER
set -eu
folder=$1 pins=benchmarks/contenders/requirements.txt
if [ ! -f "$folder/.installed" ] || [ "$pins" -nt "$folder/.installed" ]; then
    printf 'installing what the contenders need into %s\n' "$folder"
    [ -x "$folder/bin/python" ] || "${PYTHON:-python3}" -m venv "$folder"
    "$folder/bin/python" -m pip install --quiet --disable-pip-version-check --requirement "$pins"
    touch "$folder/.installed"
fi
