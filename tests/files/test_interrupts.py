"""An interrupt ends a run, also where Python would forget it."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Iterator

import pytest

from zealous.files import interrupts

STOPS = (signal.SIGINT, signal.SIGTERM)


@pytest.fixture(autouse=True)
def raised() -> Iterator[None]:
    before, hook = {each: signal.getsignal(each) for each in STOPS}, sys.unraisablehook
    interrupts.raise_on(STOPS)
    yield
    interrupts._raised.clear()
    signal.set_wakeup_fd(-1)
    for each, handler in before.items():
        signal.signal(each, handler)
    sys.unraisablehook = hook


def wait() -> None:
    end = time.monotonic() + 10
    while time.monotonic() < end:
        time.sleep(0.01)


def ending(arrives: signal.Signals) -> Iterator[None]:
    try:
        yield
    finally:
        signal.raise_signal(arrives)


class Ending:
    def __del__(self) -> None:
        signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize("arrives", STOPS)
def test_an_interrupt_while_a_generator_is_let_go_comes_again(arrives: signal.Signals) -> None:
    begun = ending(arrives)
    next(begun)
    del begun  # here it is forgotten
    with pytest.raises(KeyboardInterrupt):
        wait()


def test_an_interrupt_while_an_object_is_let_go_comes_again() -> None:
    Ending()
    with pytest.raises(KeyboardInterrupt):
        wait()


def test_a_second_signal_does_not_break_off_the_cleaning_up() -> None:
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(STOPS[0])
    for each in STOPS:
        signal.raise_signal(each)
    assert interrupts.was_raised()


def test_nothing_is_shown_of_other_errors(capfd: pytest.CaptureFixture[str]) -> None:
    def failing() -> Iterator[None]:
        try:
            yield
        finally:
            raise ValueError("a line of the log")

    begun = failing()
    next(begun)
    del begun
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("arrives", STOPS)
def test_an_interrupt_calls_off_what_others_work_at(arrives: signal.Signals) -> None:
    called = threading.Event()

    def failing() -> None:
        raise ValueError

    with interrupts.calling_off(failing), interrupts.calling_off(called.set):
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(arrives)
        assert called.wait(10)


def test_what_has_ended_is_not_called_off() -> None:
    called: list[str] = []
    with interrupts.calling_off(lambda: called.append("over")):
        pass
    with interrupts.calling_off(lambda: called.append("there")):
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(STOPS[0])
        while not called:
            time.sleep(0.01)
    assert called == ["there"]


def test_nothing_goes_on_before_what_calls_it_off_has_returned() -> None:
    """An interrupt that arrives while it waits for that changes nothing."""
    begun, go_on, returned = threading.Event(), threading.Event(), threading.Event()
    main = threading.get_ident()

    def end() -> None:
        begun.set()
        go_on.wait(10)
        returned.set()

    def interrupt() -> None:
        time.sleep(0.1)
        signal.pthread_kill(main, signal.SIGINT)
        time.sleep(0.1)
        go_on.set()

    def work() -> None:
        with interrupts.calling_off(end):
            threading.Thread(target=interrupts._call_off).start()
            assert begun.wait(10)
            threading.Thread(target=interrupt).start()

    with pytest.raises(KeyboardInterrupt):
        work()
    assert returned.is_set()
    assert interrupts._ends == []


def test_what_was_ignored_stays_ignored() -> None:
    """As where `nohup` started the process."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        interrupts.raise_on((signal.SIGHUP,))
        signal.raise_signal(signal.SIGHUP)
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)
