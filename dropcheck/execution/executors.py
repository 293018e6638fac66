"""Those that draw: threads of this process, or copies of it.

Whoever asks gives a request with a token, and gets the token back with the sums, in any order.
"""

from __future__ import annotations

import contextlib
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from multiprocessing.reduction import ForkingPickler
from queue import SimpleQueue
from types import TracebackType
from typing import Any, Generic, Protocol, TypeVar

from dropcheck.errors import DropcheckError
from dropcheck.execution import workers
from dropcheck.simulation.blocks import Request
from dropcheck.simulation.integrands import Sums
from dropcheck.simulation.program import Program, SpanSums

Token = TypeVar("Token")

# Programs that a process keeps, and those that are kept as they are sent: there may be thousands.
PROGRAMS_HELD = 16
PROGRAMS_KEPT = 64
# Seconds of drawing below which no copies are made: they take about as long to make.
WORTH_COPIES = 0.03
_Found = SpanSums | DropcheckError


@dataclass(frozen=True, slots=True)
class Done(Generic[Token]):
    """What came of a request: sums, or the error met while drawing."""

    token: Token
    found: _Found


class Hands(Protocol[Token]):
    """Whoever draws, from `with` to its end."""

    def __enter__(self) -> Hands[Token]: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
        /,
    ) -> None: ...

    def give(self, token: Token, request: Request) -> None:
        """Take a request on."""

    def next_done(self) -> Done[Token]:
        """The next request that is done, in whatever order."""


class Threads(Generic[Token]):
    """Threads of this process; they hold one another up only where arrays are short."""

    def __init__(self, count: int) -> None:
        self._pool = ThreadPoolExecutor(max_workers=count, thread_name_prefix="dropcheck")
        self._done: SimpleQueue[tuple[Token, Future[_Found]]] = SimpleQueue()

    def __enter__(self) -> Threads[Token]:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)

    def give(self, token: Token, request: Request) -> None:
        """Take a request on."""
        future = self._pool.submit(request.attempted)
        future.add_done_callback(lambda done: self._done.put((token, done)))

    def next_done(self) -> Done[Token]:
        """The next request that is done, in whatever order."""
        token, future = self._done.get()
        return Done(token, future.result())


@dataclass(frozen=True, slots=True)
class _Task:
    """A request on its way to a process, which knows its program by number once it was shown."""

    number: int
    program: int
    shown: bytes | None
    seed: int
    case_key: str
    purpose: int
    centres: Sums
    first: int
    count: int


class _Copy:
    """In a process: carries out tasks with the programs that it was shown last."""

    def __init__(self) -> None:
        self._programs: dict[int, Program] = {}

    def __call__(self, task: _Task) -> tuple[int, _Found]:
        if task.shown is not None:
            self._programs[task.program] = ForkingPickler.loads(task.shown)
            _forget(self._programs, PROGRAMS_HELD)
        request = Request(
            self._programs[task.program],
            task.seed,
            task.case_key,
            task.purpose,
            task.centres,
            task.first,
            task.count,
        )
        return task.number, request.attempted()


@dataclass(frozen=True, slots=True)
class _Sent:
    """A program as it is sent; `text` is None where it cannot be. It is held for its id."""

    program: Program
    number: int
    text: bytes | None


class Processes(Generic[Token]):
    """Copies of this process, made once there is work for them.

    Programs that cannot be sent, such as one that calls somebody's own function, are left to
    threads.
    """

    def __init__(self, count: int) -> None:
        self._count = count
        self._threads: Threads[Token] = Threads(count)
        self._pool: workers.Workers[_Task, tuple[int, _Found]] | None = None
        self._sent: dict[int, _Sent] = {}  # by id of the program
        self._shown: dict[int, dict[int, None]] = {}  # numbers of programs by id of the worker
        self._waiting: deque[tuple[int, Request, _Sent]] = deque()
        self._tokens: dict[int, Token] = {}
        self._programs = 0
        self._given = 0
        self._on_threads = 0
        self._refused = False

    def __enter__(self) -> Processes[Token]:
        return self

    def __exit__(self, *_: object) -> None:
        self._threads.__exit__(None, None, None)
        if self._pool is not None:
            self._pool.__exit__(None, None, None)

    def give(self, token: Token, request: Request) -> None:
        """Take a request on."""
        sent = None
        if self._pool is not None or request.wanted >= WORTH_COPIES:
            sent = self._as_sent(request.program)
        if sent is None or sent.text is None or not self._copied():
            self._on_threads += 1
            self._threads.give(token, request)
            return
        self._given += 1
        self._tokens[self._given] = token
        self._waiting.append((self._given, request, sent))
        self._hand_out()

    def next_done(self) -> Done[Token]:
        """The next request that is done, in whatever order."""
        if self._on_threads or self._pool is None:
            self._on_threads -= 1
            return self._threads.next_done()
        number, found = self._pool.answer()
        self._hand_out()
        return Done(self._tokens.pop(number), found)

    def _as_sent(self, program: Program) -> _Sent:
        found = self._sent.get(id(program))
        if found is None:
            text = None
            with contextlib.suppress(Exception):  # whatever keeps it from being sent
                text = bytes(ForkingPickler.dumps(program))
            self._programs += 1
            found = self._sent[id(program)] = _Sent(program, self._programs, text)
            _forget(self._sent, PROGRAMS_KEPT)
        return found

    def _copied(self) -> bool:
        """Whether there are copies; where the system makes none, threads draw instead."""
        if self._pool is None and not self._refused:
            try:
                self._pool = workers.Workers(_Copy(), self._count)
            except OSError:
                self._refused = True
        return self._pool is not None

    def _hand_out(self) -> None:
        assert self._pool is not None
        for worker in self._pool.free():
            if not self._waiting:
                return
            number, request, sent = self._waiting[0]
            shown = self._shown.setdefault(id(worker), {})
            new = sent.number not in shown
            if new and worker.held:
                continue  # it reads nothing while it works, and a program may be large
            if new:
                shown[sent.number] = None
                _forget(shown, PROGRAMS_HELD)
            self._waiting.popleft()
            self._pool.ask(
                worker,
                _Task(
                    number,
                    sent.number,
                    sent.text if new else None,
                    request.seed,
                    request.case_key,
                    request.purpose,
                    request.centres,
                    request.first,
                    request.count,
                ),
            )


def _forget(held: dict[int, Any], most: int) -> None:
    """Leave the entries that were made last."""
    while len(held) > most:
        del held[next(iter(held))]
