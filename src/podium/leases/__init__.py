"""Leases: cores and GPUs of this machine, held while a program computes."""

from podium.leases.pool import Lease, Pool, default_pool
from podium.leases.queue import Claim

__all__ = ["Claim", "Lease", "Pool", "default_pool"]
