#!/bin/sh
# Installs Debian's Chromium for the browser tests, where it is missing and that is possible; says so where not.
set -eu

say() { printf 'chromium: %s\n' "$*" >&2; }

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"
    elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then sudo "$@"
    else return 1
    fi
}

for name in chromium chromium-browser google-chrome; do
    command -v "$name" >/dev/null 2>&1 && exit 0
done
command -v apt-get >/dev/null 2>&1 || { say "Please install Chromium, then repeat this."; exit 1; }
say "installing Chromium"
as_root apt-get update -qq >/dev/null 2>&1 || true
as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core >/dev/null 2>&1 || {
    say "Could not install Chromium. Run as root: apt-get install chromium"
    exit 1
}
