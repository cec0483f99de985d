"""Prometheus metrics, served by Ray on every node together with its own."""

from __future__ import annotations


class Metrics:
    """Metrics of a driver's runs."""

    def __init__(self) -> None:
        from ray.util.metrics import Counter, Gauge

        self._runs = Gauge("podium_runs", description="Runs of this driver, by state.", tag_keys=("state",))
        self._deaths = Counter("podium_deaths", description="Attempts that died and were noticed by this driver.")

    def update(self, **states: int) -> None:
        for state, count in states.items():
            self._runs.set(count, tags={"state": state})

    def count_death(self) -> None:
        self._deaths.inc()
