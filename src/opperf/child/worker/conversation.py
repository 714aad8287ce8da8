"""The conversation of a child with its parent: requests in their order, and the reply to each.

Most calls are bound and made from here. What a test of a suite calls can be called only where the test calls it: its
fixtures, its `with` blocks and the states of its thread hold there and nowhere else. So the conversation goes on inside
the test, in the same thread, until the parent asks for something else; then the test goes on to its end.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Any, BinaryIO

from opperf.child.worker.failures import failure
from opperf.child.worker.handler import Handler
from opperf.domain.measurement import Measurement, Samples
from opperf.domain.message import replies, requests
from opperf.domain.message.replies import Failure
from opperf.domain.message.requests import Request
from opperf.domain.message.wire import answer_line, read_request
from opperf.domain.plan import Trial

#: What is asked of a trial that is prepared, and so answered inside its test.
WITHIN = (requests.Measure, requests.Turn, requests.CountInstructions, requests.BuildLoops)


class Conversation:
    """Answers what comes; `answer` makes a reply, or raises what went wrong. `is_last` says what ends the child."""

    def __init__(
        self,
        pipes: tuple[BinaryIO, BinaryIO],
        handler: Handler,
        answer: Callable[[Request[Any]], Any],
        is_last: Callable[[Failure], bool],
    ) -> None:
        self._requests, self._replies = pipes
        self._process = os.getpid()
        self._handler = handler
        self._answer = answer
        self._is_last = is_last
        #: The request that is read and not answered.
        self._next: tuple[int, Request[Any]] | None = None
        #: What was seen of the trial that is prepared inside a test: samples, or else what its first calls took.
        self._samples: list[Samples] = []
        self._first: float = 0.0
        #: How long a test took up to the call that is prepared in it, in seconds.
        self._set_up: float = 0.0
        #: How a test has ended whose trial was measured: told to whoever asks for it next.
        self._late: tuple[Trial, BaseException] | None = None

    def go_on(self, kinds: Collection[type] = ()) -> None:
        """Answer requests until the last; inside a test only those of these kinds, and leave the next to others."""
        while self._read():
            assert self._next is not None
            number, request = self._next
            if isinstance(request, requests.Quit) or (kinds and not isinstance(request, tuple(kinds))):
                return
            self._next = None
            self._reply(number, request)

    def _read(self) -> bool:
        if self._next is None:
            line = self._requests.readline()
            self._next = read_request(line) if line else None
        return self._next is not None

    def _reply(self, number: int, request: Request[Any]) -> None:
        try:
            stage = self._handler.stage(request)
            if stage is not None:
                self._within(stage, number, request)
                return
            answer = self._line(number, request)
            if isinstance(request, requests.Release) and self._late is not None:
                (_, error), self._late = self._late, None
                raise error
        except (Exception, SystemExit) as error:  # a failure is an answer; what an operator broke dies with the child
            answer = self._failed(number, error)
        self._send(answer)

    def _line(self, number: int, request: Request[Any]) -> bytes:
        """Return the line of a reply, and keep what it says of a call's time."""
        reply = self._answer(request)
        if isinstance(reply, Measurement):
            self._samples.append(reply.time)
        elif isinstance(reply, replies.Sampling):
            self._samples.append(reply.samples)
        elif isinstance(reply, replies.Preparation):
            self._first = reply.spent["calls"]
            reply = replace(reply, spent={**reply.spent, "inputs": reply.spent["inputs"] + self._set_up})
            self._set_up = 0.0
        return answer_line(number, reply)

    def _within(self, stage: Callable[[Callable[[], Any]], None], number: int, request: Any) -> None:
        """Answer a request inside the test that makes the call, and all that is asked of it there."""
        if self._late is not None and self._late[0] == request.trial:
            raise self._late[1]
        self._late, self._samples, self._first, self._set_up = None, [], 0.0, 0.0
        failed: list[BaseException] = []
        is_answered, began = False, time.monotonic()

        def play() -> tuple[Sequence[float], int]:
            nonlocal is_answered
            self._set_up = time.monotonic() - began
            try:
                line = self._line(number, request)
            except BaseException as error:
                failed.append(error)
                raise
            is_answered = True
            self._send(line)
            self.go_on(WITHIN)
            if isinstance(request, requests.Prepare):
                self._handler.settle()
            return self._times()

        try:
            stage(play)
            if failed:  # the test expects that
                raise failed[0]
        except (Exception, SystemExit) as error:
            if not is_answered:
                raise
            if isinstance(request, requests.Prepare):
                self._late = request.trial, error

    def _times(self) -> tuple[list[float], int]:
        """Return the seconds of a call in each sample, and the calls of one."""
        times = [seconds for samples in self._samples for seconds in samples.seconds(clean_only=False)]
        return (times, self._samples[0].samples[0].calls) if times else ([self._first], 1)

    def _failed(self, number: int, error: BaseException) -> bytes:
        reply = failure(error)
        self._handler.tracers.restore()
        return answer_line(number, replace(reply, last=reply.last or self._is_last(reply)))

    def _send(self, line: bytes) -> None:
        if os.getpid() != self._process:
            os._exit(1)  # a copy that the user's code has made and let return: the parent asked the original
        self._replies.write(line)
        self._replies.flush()
