# Tries to read the answers, the data home, another workspace and the host's home by their names.
import json
import os

for name, path in json.load(open("/home/targets.json"))["paths"].items():
    for candidate in (path, os.path.dirname(path), f"/proc/self/root{path}", f"/../..{path}", f"/home/../{path}"):
        try:
            found = open(candidate).read() if os.path.isfile(candidate) else os.listdir(candidate)
            if name == "public" or not found or (isinstance(found, list) and "secret.txt" not in found):
                continue
            print("ACHIEVED read", candidate, found)
        except OSError:
            pass
print("DONE")
