"""What a worker of this machine loads when it starts."""

import signal
from typing import Any

from exll.cluster import work as work  # the first task need not wait for it


def dask_setup(worker: Any) -> None:
    """Called by Dask. Ctrl-C in a terminal reaches all its processes; only the client has something to say of it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
