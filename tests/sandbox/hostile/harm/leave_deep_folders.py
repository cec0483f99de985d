# Leaves folders nested ten thousand deep.
import os

for top in ("/tmp", "/home"):
    os.chdir(top)
    for _ in range(10_000):
        os.mkdir("d")
        os.chdir("d")
    with open("bottom", "w") as file:
        file.write("reached")
print("left")
