"""An agent whose runs never survive their first decision."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence

from podium.agents.scripted import Scripted
from podium.agents.scripted_base import FixedState
from podium.workspace.journal.events import Action


class Deadly(Scripted):
    async def decide(self, state: FixedState) -> Sequence[Action]:
        os.kill(os.getpid(), signal.SIGKILL)
        return []
