"""The threads beside the event loop: what becomes of work that is waiting when they end."""

import asyncio
import threading

import pytest

from exll.studio.errors import BusyError
from exll.studio.thread_pool import BoundedPool
from served import PATIENCE


async def one_running_and_one_waiting(pool: BoundedPool, go_on: threading.Event) -> list[asyncio.Task[bool]]:
    begun = threading.Event()

    def work() -> bool:
        begun.set()
        return go_on.wait(PATIENCE)

    tasks = [asyncio.create_task(pool.run(work)) for _ in range(2)]
    assert await asyncio.to_thread(begun.wait, PATIENCE)
    return tasks


def test_work_that_waits_when_the_threads_end_is_answered_as_busy() -> None:
    async def scenario() -> None:
        pool, go_on = BoundedPool(1, 2, "test"), threading.Event()
        running, waiting = await one_running_and_one_waiting(pool, go_on)
        closing = asyncio.create_task(asyncio.to_thread(pool.close))
        with pytest.raises(BusyError, match="being closed"):
            await waiting
        go_on.set()
        assert await running
        await closing
        for _ in range(3):  # refused for what it is, and not because three are pending
            with pytest.raises(BusyError, match="being closed"):
                await pool.run(lambda: True)

    asyncio.run(scenario())


def test_who_goes_away_cancels_what_was_asked() -> None:
    async def scenario() -> None:
        pool, go_on = BoundedPool(1, 2, "test"), threading.Event()
        running, waiting = await one_running_and_one_waiting(pool, go_on)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        go_on.set()
        assert await running
        pool.close()

    asyncio.run(scenario())
