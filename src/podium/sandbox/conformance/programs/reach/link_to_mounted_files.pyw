# Tries to change read-only files through a second name, and to replace them in place.
import os

for source in ("/home/data/train.csv", "/home/kept/eval.py", "/usr/bin/env", os.__file__):
    for target in ("/home/copy", "/tmp/copy", "/home/code/copy"):
        for attempt in (os.link, os.rename):
            try:
                attempt(source, target)
                print("ACHIEVED", attempt.__name__, source, target)
            except OSError:
                pass
    for attempt in (
        os.unlink,
        lambda path: os.chmod(path, 0o666),
        lambda path: os.utime(path, (0, 0)),
        lambda path: os.truncate(path, 0),
    ):
        try:
            attempt(source)
            print("ACHIEVED a change of", source)
        except OSError:
            pass
    try:
        open(source, "ab").write(b"changed")
        print("ACHIEVED wrote", source)
    except OSError:
        pass
print("DONE")
