# Leaves something behind that prints without end into the pipes of its parent.
yes from behind &
yes from behind >&2 &
echo first
