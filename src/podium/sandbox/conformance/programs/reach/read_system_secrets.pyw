# Tries to read what systems keep from their users: passwords, keys, sockets of services, logs, kernel memory.
import glob
import os
import stat
import sys

places = """
/etc/shadow /etc/gshadow /etc/sudoers /etc/ssh/* /etc/machine-id /etc/fstab
/root/.ssh/* /root/.bash_history /root/.aws/* /root/.config/* /root/.netrc /root/.kaggle/*
/var/run/docker.sock /run/docker.sock /run/secrets/* /run/user/* /var/log/* /var/lib/* /var/spool/*
/proc/kcore /proc/kmsg /dev/mem /dev/kmsg /dev/port /dev/sda* /dev/vda* /dev/nvme* /dev/fuse /dev/kvm /dev/net/tun
/sys/kernel/* /sys/fs/* /sys/class/* /boot/* /mnt/* /srv/* /opt/*
""".split()
for place in places:
    for path in glob.glob(place):
        if f"{sys.prefix}/".startswith(f"{path}/") or f"{sys.base_prefix}/".startswith(f"{path}/"):
            continue  # Python itself
        try:
            handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
            kind = os.fstat(handle)
            is_device = stat.S_ISCHR(kind.st_mode) or stat.S_ISBLK(kind.st_mode)
            if is_device and kind.st_rdev == os.makedev(1, 3):
                continue  # covered with /dev/null
            if is_device or (os.listdir(handle) if stat.S_ISDIR(kind.st_mode) else os.read(handle, 1)):
                print("ACHIEVED opened", path)
        except OSError:
            pass
if "root:" in open("/etc/passwd").read():
    print("ACHIEVED read the users of the host")
print("DONE")
