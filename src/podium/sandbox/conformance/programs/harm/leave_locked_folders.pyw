# Leaves folders that nobody may enter, and links in them to files whose rights a careless cleaner would change.
import os

for top in ("/tmp", "/var/tmp", "/home"):
    for number in range(20):
        os.makedirs(f"{top}/locked{number}/inner/most")
        open(f"{top}/locked{number}/inner/file", "w").close()
        os.symlink(open("/home/canary-path").read(), f"{top}/locked{number}/inner/link")
        os.chmod(f"{top}/locked{number}/inner", (0, 0o500, 0o100, 0o400)[number % 4])
        os.chmod(f"{top}/locked{number}", (0, 0o500, 0o100, 0o400)[number % 4])
print("left")
