"""Leases: programs take cores and GPUs of this machine for as long as they compute."""

from podium.leases.pool import Lease, Pool, default_pool
from podium.leases.queue import Claim

__all__ = ["Claim", "Lease", "Pool", "default_pool"]
