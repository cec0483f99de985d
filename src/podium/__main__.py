"""Entry point of `python -m podium`."""

from podium.cli import main

main()
