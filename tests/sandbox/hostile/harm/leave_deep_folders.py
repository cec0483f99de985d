# Leaves folders nested ten thousand deep.
import os

os.chdir("/tmp")
for _ in range(10_000):
    os.mkdir("d")
    os.chdir("d")
with open("bottom", "w") as file:
    file.write("reached")
print("left")
