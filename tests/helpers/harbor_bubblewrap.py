"""Harbor's interface to an environment, on bubblewrap: `harbor run --env harbor_bubblewrap:BubblewrapEnvironment`."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from pathlib import Path

from harbor.environments.base import BaseEnvironment, ExecResult
from harbor.environments.capabilities import EnvironmentCapabilities
from harbor_container import Container


class BubblewrapEnvironment(BaseEnvironment):
    """A container without an engine."""

    @staticmethod
    def type() -> str:
        return "bubblewrap"

    @property
    def capabilities(self) -> EnvironmentCapabilities:
        return EnvironmentCapabilities(disable_internet=True)

    def _validate_definition(self) -> None:
        if not (self.environment_dir / "Dockerfile").is_file():
            raise FileNotFoundError(self.environment_dir / "Dockerfile")

    async def start(self, force_build: bool) -> None:
        self._root = Path(tempfile.mkdtemp(prefix="harbor-container-"))
        self._container = Container.build(self.environment_dir, self._root)
        await self.exec("mkdir -p /logs/agent /logs/artifacts /logs/verifier && chmod 777 /logs/*")

    async def stop(self, delete: bool) -> None:
        shutil.rmtree(self._root, ignore_errors=True)

    async def upload_file(self, source_path: Path | str, target_path: str) -> None:
        self._container.host(target_path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source_path, self._container.host(target_path))

    async def upload_dir(self, source_dir: Path | str, target_dir: str) -> None:
        shutil.copytree(source_dir, self._container.host(target_dir), dirs_exist_ok=True)

    async def download_file(self, source_path: str, target_path: Path | str) -> None:
        shutil.copy(self._container.host(source_path), target_path)

    async def download_dir(self, source_dir: str, target_dir: Path | str) -> None:
        shutil.copytree(self._container.host(source_dir), target_dir, dirs_exist_ok=True)

    async def exec(
        self,
        command: str,
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        timeout_sec: int | None = None,
        user: str | int | None = None,
    ) -> ExecResult:
        given = self._merge_env(env)
        done = await asyncio.to_thread(self._container.run, ["bash", "-c", command], env=given, cwd=cwd)
        return ExecResult(stdout=done.stdout, stderr=done.stderr, return_code=done.returncode)
