# Tries to move away the folders around read-only files, and to put files of its own in their place.
import os
import shutil

for folder in ("/home/kept", "/home/kept/deep", "/home/kept/deep/inner", "/home/data", "/home"):
    for attempt in (lambda path: os.rename(path, "/home/away"), shutil.rmtree, os.rmdir):
        try:
            attempt(folder)
        except OSError:
            pass
for path, content in (
    ("/home/kept/eval.py", "original"),
    ("/home/kept/deep/inner/eval.py", "original"),
    ("/home/data/train.csv", "a,b"),
):
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        open(path, "w").write("forged")
    except OSError:
        pass
    if content not in open(path).read():
        print("ACHIEVED replaced", path)
print("DONE")
