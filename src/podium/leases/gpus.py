"""The GPUs of this machine."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path


def usable_gpus() -> tuple[int, ...]:
    """Return the numbers of the NVIDIA devices that this process may use."""
    return visible_gpus(_devices(), os.environ.get("CUDA_VISIBLE_DEVICES"))


def device_names(numbers: Iterable[int]) -> list[str]:
    """Return the UUIDs of devices, which CUDA accepts everywhere; numbers depend on which devices are visible."""
    uuids = dict(_devices())
    return [uuids.get(number) or str(number) for number in numbers]


def visible_gpus(devices: Sequence[tuple[int, str]], setting: str | None) -> tuple[int, ...]:
    """Return the numbers of the devices (number, UUID) that a value of CUDA_VISIBLE_DEVICES leaves visible."""
    if setting is None:
        return tuple(number for number, _ in devices)
    visible = []
    for word in filter(None, map(str.strip, setting.split(","))):
        if word.isdecimal():
            found = [number for number, _ in devices[int(word) : int(word) + 1]]
        else:
            found = [number for number, uuid in devices if uuid.startswith(word)]
        if len(found) != 1:
            break  # like CUDA, which ignores the first invalid entry and all after it
        visible += found
    return tuple(dict.fromkeys(visible))


def _devices() -> list[tuple[int, str]]:
    """Return number and UUID of each device in PCI bus order, as CUDA counts them."""
    devices = []
    for path in sorted(Path("/proc/driver/nvidia/gpus").glob("*/information")):
        text = path.read_text(encoding="utf-8", errors="replace")
        number, uuid = re.search(r"Device Minor:\s*(\d+)", text), re.search(r"GPU UUID:\s*(\S+)", text)
        if number:
            devices.append((int(number[1]), uuid[1] if uuid else ""))
    present = {int(path.name.removeprefix("nvidia")) for path in Path("/dev").glob("nvidia[0-9]*")}
    return [device for device in devices if device[0] in present] or [(number, "") for number in sorted(present)]
