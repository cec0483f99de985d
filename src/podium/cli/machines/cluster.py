"""`podium cluster`: starts, stops and inspects Ray clusters, and writes Slurm batch scripts."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from podium.cli.options import DURATION, as_json, print_json, require_extra
from podium.errors import UsageError
from podium.text import plural


@click.group(name="cluster")
def command() -> None:
    """Start and inspect a Ray cluster; write Slurm batch scripts."""
    require_extra("run")


@command.command(name="up")
@click.option(
    "--nodes", metavar="N", type=click.IntRange(1, 64), default=2, show_default=True, help="Number of Ray nodes."
)
def up(nodes: int) -> None:
    """Start a Ray cluster of several nodes on this machine, for testing.

    Use it with: podium run ... --on ray
    """
    from podium.cluster.ray.local_cluster import start_cluster

    address = start_cluster(nodes)
    click.echo(f"Started {plural(nodes, 'node')} at {address}. Use the cluster with: podium run TASK --on ray")


@command.command(name="down")
def down() -> None:
    """Stop the cluster started by `podium cluster up`.

    Everything that runs on it is stopped too.
    """
    from podium.cluster.ray.local_cluster import stop_cluster

    click.echo(
        "The cluster has been stopped." if stop_cluster() else "No cluster started by `podium cluster up` is running."
    )


@command.command(name="status")
@click.argument("experiment", required=False, type=click.Path(file_okay=False, path_type=Path))
@click.option(
    "--on", "on", default="ray", show_default=True, metavar="CLUSTER", help="Cluster: ray, or ray://HOST:PORT."
)
@as_json
def status(experiment: Path | None, on: str, as_json: bool) -> None:
    """Show nodes and leases of a cluster, and the progress of EXPERIMENT."""
    from podium.cluster.cluster_status import experiment_status, node_statuses
    from podium.cluster.ray.connection import connect, known_address
    from podium.runs.experiment import read_experiment

    name, _, address = on.partition("://")
    if name != "ray":
        raise UsageError(f"--on {on}: write ray, or ray://HOST:PORT.")
    if not (address or known_address()):
        raise UsageError("There is no cluster. Start one with: podium cluster up, or name one: --on ray://HOST:PORT")
    with connect(address or None) as joined:
        nodes, dashboard = node_statuses(), joined.dashboard_url
    progress = experiment_status(read_experiment(experiment)) if experiment else None
    if as_json:
        print_json({"nodes": [asdict(node) for node in nodes], "experiment": asdict(progress) if progress else None})
        return
    for line in (*(node.line() for node in nodes), *(progress.lines() if progress else ())):
        click.echo(line)
    if dashboard:
        click.echo(f"Ray dashboard: http://{dashboard}")


@command.command(name="slurm", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option("--nodes", metavar="N", type=click.IntRange(1), required=True, help="Number of machines.")
@click.option("--time", "time_s", type=DURATION, required=True, help="Time limit of the job, such as 24h.")
@click.option("--cores", metavar="N", type=click.IntRange(1), help="Cores per machine.  [default: all]")
@click.option("--gpus", metavar="N", type=click.IntRange(0), default=0, show_default=True, help="GPUs per machine.")
@click.option("--partition", metavar="NAME", help="Slurm partition.  [default: the site's]")
@click.option("--setup", metavar="LINE", help="Shell command that makes podium available, such as: . venv/bin/activate")
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
    """Print a Slurm batch script that runs `podium run`.

    The script starts a Ray cluster on several machines and runs the command given after `--` on it.
    """
    from podium.cluster.slurm import Allocation, batch_script

    command_line = [*arguments[1:]] if arguments[0] == "podium" else [*arguments]
    if command_line[:1] not in (["run"], ["resume"]):
        raise UsageError("Give the command to run, such as: podium cluster slurm ... -- run TASK")
    if any(part == "--on" or part.startswith("--on=") for part in command_line):
        raise UsageError("Omit --on: the script adds it.")
    _require_valid(command_line)
    allocation = Allocation(nodes, time_s, cores, gpus, partition, setup)
    click.echo(batch_script(allocation, ["podium", *command_line]), nl=False)


def _require_valid(command_line: list[str]) -> None:
    """Parse the command now, so that a mistyped option does not fail in a job that waited for hours."""
    root = click.get_current_context().find_root()
    assert isinstance(root.command, click.Group)
    chosen = root.command.get_command(root, command_line[0])
    assert chosen is not None
    with chosen.make_context(command_line[0], command_line[1:], parent=root):
        pass
