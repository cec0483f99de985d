# Prints without end, on both streams.
yes to standard error >&2 &
exec yes to standard output
