# Fills the disk in the temporary folders instead of the workspace.
while :; do
    head -c 4000000 /dev/zero >> /tmp/big
    head -c 4000000 /dev/zero >> /var/tmp/big
    sleep 0.01
done
