#!/bin/sh
# Makes an environment with the training tools that Podium has bridges to, for tests/environment/test_bridges.py. They want
# older clients of models than Podium itself, so it is one of its own. Harbor wants Python 3.12: HARBOR_PYTHON names it.
# usage: scripts/bridges_env.sh FOLDER
set -eu
folder=$1
if [ ! -f "$folder/.installed" ] || [ pyproject.toml -nt "$folder/.installed" ]; then
    printf 'installing gymnasium, openenv-core and verifiers into %s\n' "$folder"
    [ -x "$folder/bin/python" ] || "${PYTHON:-python3}" -m venv "$folder"
    "$folder/bin/python" -m pip install --quiet --disable-pip-version-check --editable '.[report,training]' hypothesis pytest uv
    "$folder/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps inspect-evals # the form of its register
    harbor_python=${HARBOR_PYTHON:-python3.12}
    if "$harbor_python" --version >/dev/null 2>&1; then
        [ -x "$folder/harbor/bin/python" ] || "$harbor_python" -m venv "$folder/harbor"
        "$folder/harbor/bin/python" -m pip install --quiet --disable-pip-version-check harbor
    fi
    touch "$folder/.installed"
fi
