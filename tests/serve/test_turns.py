"""Places at the processor: as many as there are, in the order of asking, and none is lost."""

from __future__ import annotations

import threading
import time

from agent.serve.turns import Turns


def _until(condition: object) -> None:
    for _ in range(500):
        if condition():  # type: ignore[operator]
            return
        time.sleep(0.01)
    raise AssertionError("it never came to that")


def test_a_place_goes_to_who_has_waited_longest_and_never_to_who_comes_by() -> None:
    turns, order = Turns(1), list[int]()
    turns.acquire()

    def work(number: int) -> None:
        with turns:
            order.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for waiting, thread in enumerate(threads, start=1):
        thread.start()
        _until(lambda waiting=waiting: len(turns._waiting) == waiting)
    turns.release()
    work(99)  # asks while all the others have their turn, and so comes behind them
    for thread in threads:
        thread.join()
    assert order == [0, 1, 2, 3, 4, 5, 99]


def test_never_more_at_once_than_there_are_places_and_all_are_free_at_the_end() -> None:
    turns, inside, most, lock = Turns(3), 0, 0, threading.Lock()

    def work() -> None:
        nonlocal inside, most
        for _ in range(200):
            with turns:
                with lock:
                    inside += 1
                    most = max(most, inside)
                with lock:
                    inside -= 1

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert 1 <= most <= 3
    assert turns._free == 3
    assert not turns._waiting
