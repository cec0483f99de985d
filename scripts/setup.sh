#!/bin/sh
# Makes .venv with everything installed. Installs missing system packages where that is possible, says so where not.
set -eu
cd "$(dirname "$0")/.."
PYTHON="${PYTHON:-python3}"

say() { printf 'setup: %s\n' "$*" >&2; }

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"
    elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then sudo "$@"
    else return 1
    fi
}

updated=no
install_package() { # $1: Debian package, $2: what it is needed for
    command -v apt-get >/dev/null 2>&1 || { say "Please install $1 ($2)."; return 1; }
    if [ "$updated" = no ]; then as_root apt-get update -qq >/dev/null 2>&1 || true; updated=yes; fi
    say "installing $1 ($2)"
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$1" >/dev/null 2>&1 || {
        say "Could not install $1 ($2). Run as root: apt-get install $1"
        return 1
    }
}

command -v "$PYTHON" >/dev/null 2>&1 || install_package python3 "Python itself" || exit 1
"$PYTHON" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
    say "$("$PYTHON" --version) is too old: Podium needs Python 3.11 or later. Run: make PYTHON=/path/to/python3.11"
    exit 1
}
"$PYTHON" -c 'import ensurepip, venv' 2>/dev/null || install_package python3-venv "virtual environments" || exit 1
command -v bwrap >/dev/null 2>&1 || install_package bubblewrap "the sealed sandbox" || true

[ -x .venv/bin/python ] || "$PYTHON" -m venv .venv
say "installing Python packages into .venv"
.venv/bin/python -m pip install --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
touch .venv/.installed
say "done: .venv/bin/podium --help"
