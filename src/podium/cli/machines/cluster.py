"""`podium cluster`: starts, shows and describes clusters that runs are carried out on."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from podium.cli.options import DURATION, as_json, print_json, require_extra
from podium.errors import UsageError
from podium.text import plural


@click.group(name="cluster")
def command() -> None:
    """Start, inspect and use a Ray cluster."""
    require_extra("run")


@command.command(name="up")
@click.option("--nodes", type=click.IntRange(1, 64), default=2, show_default=True, help="Ray nodes on this machine.")
def up(nodes: int) -> None:
    """Start a cluster of several nodes on this machine, to try things out. Use it with: podium run ... --on ray"""
    from podium.cluster.ray.local_cluster import start_cluster

    address = start_cluster(nodes)
    click.echo(f"{plural(nodes, 'node')} at {address}. Use them with: podium run TASK --on ray")


@command.command(name="down")
def down() -> None:
    """End the cluster that `podium cluster up` started, with everything that runs on it."""
    from podium.cluster.ray.local_cluster import stop_cluster

    click.echo("The cluster is down." if stop_cluster() else "There is no cluster of `podium cluster up`.")


@command.command(name="status")
@click.argument("experiment", required=False, type=click.Path(file_okay=False, path_type=Path))
@click.option("--on", "on", default="ray", show_default=True, help="The cluster: ray, or ray://ADDRESS.")
@as_json
def status(experiment: Path | None, on: str, as_json: bool) -> None:
    """Show the nodes of a cluster, what is leased on them, and how far EXPERIMENT is."""
    from podium.cluster.cluster_status import experiment_status, node_statuses
    from podium.cluster.ray.connection import connect, known_address
    from podium.runs.experiment import read_experiment

    name, _, address = on.partition("://")
    if name != "ray":
        raise UsageError(f"--on {on}: write ray, or ray://ADDRESS")
    if not (address or known_address()):
        raise UsageError("There is no cluster. Start one with: podium cluster up, or name one with: --on ray://ADDRESS")
    with connect(address or None) as joined:
        nodes, dashboard = node_statuses(), joined.dashboard_url
    found = experiment_status(read_experiment(experiment)) if experiment else None
    if as_json:
        print_json({"nodes": [asdict(node) for node in nodes], "experiment": asdict(found) if found else None})
        return
    for line in (*(node.line() for node in nodes), *(found.lines() if found else ())):
        click.echo(line)
    if dashboard:
        click.echo(f"Ray's own pages: http://{dashboard}")


@command.command(name="slurm", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option("--nodes", type=click.IntRange(1), required=True, help="Machines.")
@click.option("--time", "time_s", type=DURATION, required=True, help="How long they are needed, such as 24h.")
@click.option("--cores", type=click.IntRange(1), help="Cores of each.  [default: all]")
@click.option("--gpus", type=click.IntRange(0), default=0, show_default=True, help="GPUs of each.")
@click.option("--partition", help="The partition.  [default: the site's]")
@click.option(
    "--setup", metavar="LINE", help="A line of shell that makes podium available, such as: . venv/bin/activate"
)
@click.argument("arguments", metavar="-- run TASK...", nargs=-1, type=click.UNPROCESSED, required=True)
def slurm(
    nodes: int,
    time_s: float,
    cores: int | None,
    gpus: int,
    partition: str | None,
    setup: str | None,
    arguments: tuple[str, ...],
) -> None:
    """Print a batch script for Slurm that carries out `podium run ...` on several machines."""
    from podium.cluster.slurm import Allocation, batch_script

    words = [*arguments[1:]] if arguments[0] == "podium" else [*arguments]
    if words[:1] not in (["run"], ["resume"]):
        raise UsageError("Give the command that is to be carried out, such as: podium cluster slurm ... -- run TASK")
    if any(word == "--on" or word.startswith("--on=") for word in words):
        raise UsageError("--on is added by the script: leave it out.")
    _require_valid(words)
    allocation = Allocation(nodes, time_s, cores, gpus, partition, setup)
    click.echo(batch_script(allocation, ["podium", *words]), nl=False)


def _require_valid(words: list[str]) -> None:
    """Lets a mistyped option be told now and not by a job that has waited for hours."""
    root = click.get_current_context().find_root()
    assert isinstance(root.command, click.Group)
    chosen = root.command.get_command(root, words[0])
    assert chosen is not None
    with chosen.make_context(words[0], words[1:], parent=root):
        pass
