#!/bin/sh
# Runs a command with its temporary files in memory, where there is room, and removes them after it: the tests make and
# remove so many small ones that a disk's bookkeeping is a tenth of their time.
set -u
memory=/dev/shm
room=$(df --output=avail "$memory" 2>/dev/null | tail -n 1)
if [ "${room:-0}" -gt 8000000 ] && ! findmnt --noheadings --output OPTIONS --target "$memory" | grep -q noexec; then
    TMPDIR=$(mktemp --directory --tmpdir="$memory" XXXXXX) # short: sockets in it have names of 107 characters at most
    export TMPDIR
    chmod 755 "$TMPDIR" # as /tmp: some tests do things as another user
    trap 'chmod -R u+rwX "$TMPDIR"; rm -rf "$TMPDIR"' EXIT
    trap 'exit 130' HUP INT TERM # or else dash leaves without the line above
fi
"$@"
