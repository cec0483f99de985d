# Leaves something behind that prints without end into the pipes of its parent.
echo first
yes from behind &
yes from behind >&2 &
