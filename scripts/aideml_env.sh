#!/bin/sh
# Makes an environment with the published package aideml, for tests/agents/test_aideml.py: several gigabytes.
# usage: scripts/aideml_env.sh FOLDER
set -eu
version=0.2.2
folder=$1
if [ ! -f "$folder/.installed-$version" ]; then
    printf 'installing aideml %s into %s\n' "$version" "$folder"
    [ -x "$folder/bin/python" ] || "${PYTHON:-python3}" -m venv "$folder"
    "$folder/bin/python" -m pip install --quiet --disable-pip-version-check "aideml==$version"
    touch "$folder/.installed-$version"
fi
