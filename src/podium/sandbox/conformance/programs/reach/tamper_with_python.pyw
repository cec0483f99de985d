# Tries to make every later Python of this environment do something else.
import os
import py_compile
import site
import sys

for folder in [*sys.path[1:], *site.getsitepackages(), sys.prefix, f"{sys.prefix}/bin"]:
    for name in ("sitecustomize.py", "usercustomize.py", "planted.pth", "numpy.py", "pyvenv.cfg", "python"):
        try:
            open(os.path.join(folder, name), "w").write("import os")
            print("ACHIEVED wrote", folder, name)
        except OSError:
            pass
try:
    py_compile.compile(os.__file__, doraise=True)
    print("ACHIEVED replaced the compiled os")
except (OSError, py_compile.PyCompileError):
    pass
print("DONE")
