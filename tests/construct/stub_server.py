"""An OpenAI-compatible server that answers with made-up data, late, wrong or not at all.

In a test:      async with Stub(script=lambda prompt, nth: Fault.HANG if nth == 1 else None) as stub: ...
As a process:   python stub_server.py --latency 0.2 --faults rate_limit=0.05 disconnect=0.02

The process prints its base URL as the first line and serves until it is killed. `GET /counts` tells
how often each distinct prompt came and what became of it.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import hashlib
import heapq
import json
import random
from collections import Counter
from collections.abc import Callable
from enum import StrEnum
from typing import Any


class Fault(StrEnum):
    """What the server does in place of answering."""

    RATE_LIMIT = "rate_limit"
    QUOTA = "quota"
    SERVER_ERROR = "server_error"
    NOT_JSON = "not_json"
    DISCONNECT = "disconnect"
    DRIBBLE = "dribble"
    HANG = "hang"
    MALFORMED = "malformed"
    MISFIT = "misfit"
    TRUNCATED = "truncated"
    REFUSED = "refused"
    FILTERED = "filtered"
    FILTERED_PROMPT = "filtered_prompt"
    EMPTY = "empty"
    NO_CHOICES = "no_choices"
    FENCED = "fenced"
    CONTEXT = "context"
    BAD_SCHEMA = "bad_schema"
    BAD_REQUEST = "bad_request"
    UNAUTHORIZED = "unauthorized"
    NO_MODEL = "no_model"
    ECHO_KEY = "echo_key"


Script = Callable[[str, int], "Fault | None"]
"""The fault for a prompt that comes for the nth time, counted from 1."""


def fill(schema: dict[str, Any], seed: str) -> Any:
    """Data that fits a JSON schema, always the same for the same seed."""
    number = int(hashlib.sha256(seed.encode()).hexdigest()[:8], 16)
    if "enum" in schema:
        return schema["enum"][number % len(schema["enum"])]
    if "anyOf" in schema:
        return fill(schema["anyOf"][0], seed)
    kind = schema.get("type", "object")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object":
        parts = schema.get("properties", {})
        return {name: fill(part, f"{seed}.{name}") for name, part in parts.items()}
    if kind == "array":
        return [fill(schema.get("items", {"type": "string"}), f"{seed}[0]")]
    simple = {"string": f"text {number:08x}", "boolean": number % 2 == 0, "null": None}
    return simple.get(kind, number % 100)


class Stub:
    """The server; `requests`, `answered` and `abandoned` count by prompt, `busiest` at one moment."""

    def __init__(
        self,
        *,
        latency: float = 0.0,
        slots: int | None = None,
        script: Script | None = None,
        retry_after: str = "0.05",
        supports_schema: bool = True,
        port: int = 0,
    ) -> None:
        self.latency, self.script, self.retry_after = latency, script, retry_after
        self.supports_schema, self.port = supports_schema, port
        self.requests: Counter[str] = Counter()
        self.answered: Counter[str] = Counter()
        self.abandoned: Counter[str] = Counter()
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.keep = True
        self._free_at = [0.0] * (slots or 0)
        self.running = self.busiest = 0

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    async def __aenter__(self) -> Stub:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port, backlog=1024)
        self.port = self._server.sockets[0].getsockname()[1]
        self._open: set[asyncio.Task[None]] = set()
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    def counts(self) -> dict[str, Any]:
        return {
            "total": self.requests.total(),
            "requests": self.requests,
            "answered": self.answered,
            "abandoned": self.abandoned,
            "running": self.running,
            "busiest": self.busiest,
        }

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        try:
            while await self._exchange(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self._open.discard(task)
            writer.close()
            with contextlib.suppress(ConnectionError, asyncio.CancelledError):
                await writer.wait_closed()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Read one request and answer it; false when the connection is at its end."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        fields = (line.partition(":") for line in head[1:] if line)
        headers = {name.lower(): value.strip() for name, _, value in fields}
        content = await reader.readexactly(int(headers.get("content-length", "0")))
        if head[0].startswith("GET"):
            writer.write(_response(200, json.dumps(self.counts())))
            return True
        body = json.loads(content)
        prompt = body["messages"][-1]["content"]
        if self.keep:
            self.bodies.append(body)
            self.headers.append(headers)
        self.requests[prompt] += 1
        self.running += 1
        self.busiest = max(self.busiest, self.running)
        try:
            fault = self.script(prompt, self.requests[prompt]) if self.script else None
            if self.latency:
                await self._work()
            if reader.at_eof() or writer.is_closing():
                raise ConnectionResetError
            going_on = await self._answer(reader, writer, body, headers, fault)
            self.answered[prompt] += 1
            return going_on
        except (ConnectionError, asyncio.CancelledError):
            self.abandoned[prompt] += 1
            raise
        finally:
            self.running -= 1

    async def _work(self) -> None:
        """Take the time of an answer in the slot that is free first, by the clock to the moment."""
        now = asyncio.get_running_loop().time()
        end = now + self.latency
        if self._free_at:
            end = max(now, self._free_at[0]) + self.latency
            heapq.heapreplace(self._free_at, end)
        await asyncio.sleep(end - now)

    async def _answer(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        body: dict[str, Any],
        headers: dict[str, str],
        fault: Fault | None,
    ) -> bool:
        key = headers.get("authorization", "")
        if fault in (Fault.DISCONNECT, Fault.DRIBBLE, Fault.HANG):
            whole = _response(200, _completion(body, None, key))
            if fault is Fault.DISCONNECT:
                writer.write(whole[: len(whole) - 40])
                return False
            for byte in whole if fault is Fault.DRIBBLE else b"":
                writer.write(bytes([byte]))
                await asyncio.sleep(0.05)
                if reader.at_eof():
                    break
            await reader.read()  # until the client has had enough
            raise ConnectionResetError
        if not self.supports_schema and "response_format" in body:
            error = {
                "message": "response_format: extra fields not permitted",
                "type": "bad_request",
            }
            writer.write(_response(422, json.dumps({"error": error})))
        elif fault in _ERRORS:
            status, error = _ERRORS[fault]
            if fault is Fault.UNAUTHORIZED:
                error = {**error, "message": f"{error['message']} {key}"}
            text = json.dumps({"error": error})
            extra = f"Retry-After: {self.retry_after}\r\n" if fault is Fault.RATE_LIMIT else ""
            writer.write(_response(status, text, extra))
        elif fault is Fault.NOT_JSON:
            writer.write(_response(200, "<html>please log in</html>", kind="text/html"))
        else:
            writer.write(_response(200, _completion(body, fault, key)))
        await writer.drain()
        return True


_ERRORS: dict[Fault | None, tuple[int, dict[str, str]]] = {
    Fault.RATE_LIMIT: (429, {"message": "slow down", "code": "rate_limit_exceeded"}),
    Fault.QUOTA: (429, {"message": "no money left", "code": "insufficient_quota"}),
    Fault.SERVER_ERROR: (503, {"message": "loading the model"}),
    Fault.FILTERED_PROMPT: (400, {"message": "prompt was filtered", "code": "content_filter"}),
    Fault.CONTEXT: (400, {"message": "prompt too long", "code": "context_length_exceeded"}),
    Fault.BAD_SCHEMA: (400, {"message": "Invalid schema for response_format 'edit'"}),
    Fault.BAD_REQUEST: (400, {"message": "temperature is not supported", "param": "temperature"}),
    Fault.UNAUTHORIZED: (401, {"message": "wrong key:", "code": "invalid_api_key"}),
    Fault.NO_MODEL: (404, {"message": "no such model", "code": "model_not_found"}),
}


def _completion(body: dict[str, Any], fault: Fault | None, key: str) -> str:
    """A chat completion, as a good or a bad model would give it."""
    wanted = body.get("response_format", {}).get("json_schema", {}).get("schema")
    prompt = body["messages"][-1]["content"]
    data = fill(wanted, prompt) if wanted else {"text": f"plain answer to {prompt}"}
    text = json.dumps(data)
    message: dict[str, Any] = {"role": "assistant", "content": text}
    finish = "stop"
    if fault is Fault.MALFORMED:
        message["content"] = text[:-1] + ",,"
    elif fault is Fault.MISFIT:
        message["content"] = json.dumps({"something": "else"})
    elif fault is Fault.TRUNCATED:
        message["content"], finish = text[: len(text) // 2], "length"
    elif fault is Fault.REFUSED:
        message = {"role": "assistant", "content": None, "refusal": "I cannot help with that."}
    elif fault is Fault.FILTERED:
        message["content"], finish = "", "content_filter"
    elif fault is Fault.EMPTY:
        message["content"] = "  \n"
    elif fault is Fault.FENCED:
        message["content"] = f"Here it is:\n```json\n{text}\n```\n"
    elif fault is Fault.ECHO_KEY:
        message["content"] = json.dumps({**data, "text": f"you sent {key}"})
    choice = {"index": 0, "message": message, "finish_reason": finish}
    completion = {
        "id": "stub",
        "object": "chat.completion",
        "model": body["model"],
        "choices": [] if fault is Fault.NO_CHOICES else [choice],
        "usage": {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10},
    }
    return json.dumps(completion)


def _response(status: int, text: str, extra: str = "", kind: str = "application/json") -> bytes:
    body = text.encode()
    head = f"HTTP/1.1 {status} .\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n{extra}"
    return f"{head}\r\n".encode() + body


_ON_THE_WAY = {
    Fault.RATE_LIMIT,
    Fault.SERVER_ERROR,
    Fault.NOT_JSON,
    Fault.DISCONNECT,
    Fault.DRIBBLE,
    Fault.HANG,
}


def _random_faults(shares: list[str], seed: int) -> Script:
    """Faults by chance: trouble on the way comes and goes, the answer to a prompt is always the same."""
    chance = {Fault(name): float(share) for name, _, share in (s.partition("=") for s in shares)}
    passing = {fault: share for fault, share in chance.items() if fault in _ON_THE_WAY}
    lasting = {fault: share for fault, share in chance.items() if fault not in _ON_THE_WAY}

    def thrown(dice: random.Random, among: dict[Fault, float]) -> Fault | None:
        left = dice.random()
        for fault, share in among.items():
            left -= share
            if left < 0:
                return fault
        return None

    def script(prompt: str, nth: int) -> Fault | None:
        return thrown(random.Random(f"{seed} {nth} {prompt}"), passing) or thrown(
            random.Random(f"{seed} {prompt}"), lasting
        )

    return script


async def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency", type=float, default=0.0)
    parser.add_argument("--slots", type=int, help="requests worked on at once; the others wait")
    parser.add_argument("--retry-after", default="0.05")
    parser.add_argument("--faults", nargs="*", default=[], metavar="NAME=SHARE")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    stub = Stub(
        latency=options.latency,
        slots=options.slots,
        script=_random_faults(options.faults, options.seed) if options.faults else None,
        retry_after=options.retry_after,
        port=options.port,
    )
    stub.keep = False  # a long run would fill the memory
    async with stub:
        print(stub.base_url, flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_main())
