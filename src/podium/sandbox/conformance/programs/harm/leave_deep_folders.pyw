# Leaves folders nested thousands deep, deeper than any path can say.
import os

os.chdir("/tmp")
for _ in range(4_000):
    os.mkdir("d")
    os.chdir("d")
with open("bottom", "w") as file:
    file.write("reached")
print("left")
