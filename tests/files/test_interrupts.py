"""An interrupt ends a run, also where Python would forget it."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest

from zealous.files import interrupts

STOPS = (signal.SIGINT, signal.SIGTERM)


@pytest.fixture(autouse=True)
def raised() -> Iterator[None]:
    before, hook = {each: signal.getsignal(each) for each in STOPS}, sys.unraisablehook
    interrupts.raise_on(STOPS)
    yield
    with interrupts._lock:  # one that is raised again does not reach the handler of pytest
        for each in STOPS:
            signal.signal(each, signal.SIG_IGN)
    interrupts._raised = False
    signal.set_wakeup_fd(-1)
    for each, handler in before.items():
        signal.signal(each, handler)
    sys.unraisablehook = hook


def wait(seconds: float = 10) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(0.01)


def interrupted(run: Callable[[], object]) -> bool:
    try:
        run()
    except KeyboardInterrupt:
        interrupts.ignore_more()
        return True
    return False


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
    def run() -> None:
        begun = ending(arrives)
        next(begun)
        del begun  # here it is forgotten
        wait()

    assert interrupted(run)


def test_an_interrupt_while_an_object_is_let_go_comes_again() -> None:
    def run() -> None:
        Ending()
        wait()

    assert interrupted(run)


@pytest.mark.parametrize("arrives", STOPS)
def test_an_interrupt_that_a_library_forgets_comes_again(arrives: signal.Signals) -> None:
    """As where it arrives while Arrow looks whether pandas is there."""

    def run() -> None:
        with suppress(KeyboardInterrupt):
            signal.raise_signal(arrives)
        wait()

    assert interrupted(run)


def test_what_is_begun_after_a_forgotten_interrupt_is_called_off() -> None:
    called = threading.Event()

    def run() -> None:
        with suppress(KeyboardInterrupt):
            signal.raise_signal(STOPS[0])
        with interrupts.calling_off(called.set):
            wait()

    assert interrupted(run)
    assert called.is_set()


def test_no_signal_breaks_off_the_cleaning_up() -> None:
    cleaned, called_off = [], []

    def run() -> None:
        try:
            signal.raise_signal(STOPS[0])
        finally:
            wait(0.1)  # by then what was at work was called off
            with interrupts.calling_off(lambda: called_off.append("cleaning up")):
                for each in STOPS:
                    signal.raise_signal(each)
                wait(5 * interrupts._AGAIN)
            cleaned.append("all")

    assert interrupted(run)
    assert interrupts.was_raised()
    assert (cleaned, called_off) == (["all"], [])


def test_a_heeded_interrupt_does_not_come_again() -> None:
    assert interrupted(lambda: signal.raise_signal(STOPS[0]))
    for each in STOPS:
        signal.raise_signal(each)
    wait(5 * interrupts._AGAIN)


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
        assert interrupted(lambda: signal.raise_signal(arrives))
        assert called.wait(10)


def test_what_has_ended_is_not_called_off() -> None:
    called: list[str] = []
    with interrupts.calling_off(lambda: called.append("over")):
        pass
    with interrupts.calling_off(lambda: called.append("there")):
        assert interrupted(lambda: signal.raise_signal(STOPS[0]))
        for _ in range(1000):
            if not called:
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
            threading.Thread(target=interrupts._call_off, args=(interrupts._handler,)).start()
            assert begun.wait(10)
            threading.Thread(target=interrupt).start()

    with pytest.raises(KeyboardInterrupt):
        work()
    assert returned.is_set()
    assert interrupts._ends == []


def test_only_the_last_handler_calls_off() -> None:
    """What is at work once another one was set is not what the signal was to end."""
    called: list[str] = []
    with interrupts._lock:  # so the thread that the signal wakes comes too late
        assert interrupted(lambda: signal.raise_signal(STOPS[0]))
        for each in STOPS:
            signal.signal(each, signal.SIG_DFL)
        interrupts.raise_on(STOPS)
    with interrupts.calling_off(lambda: called.append("off")):
        time.sleep(0.2)
    assert called == []


def test_what_was_ignored_stays_ignored() -> None:
    """As where `nohup` started the process."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        interrupts.raise_on((signal.SIGHUP,))
        signal.raise_signal(signal.SIGHUP)
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)
