"""Chat completions: what a request is on the wire, and the data in what comes back."""

from __future__ import annotations

import json
from typing import Any, cast

from interpact.case.formats import FormatError, parse_json
from interpact.construct.ask import Answer, Failure, Request


def messages(request: Request) -> list[dict[str, str]]:
    """The messages of a request."""
    return [
        {"role": "system", "content": request.system},
        {"role": "user", "content": request.user},
    ]


def body(request: Request, plain: bool) -> dict[str, Any]:
    """What is sent for a request; `plain` is for servers that know no JSON schemas."""
    sent = messages(request)
    if plain:
        sent[0]["content"] += (
            "\n\nAnswer with one JSON object that fits this JSON schema, and nothing else:\n"
            + json.dumps(request.schema)
        )
        return {"messages": sent}
    form = {"name": request.schema_name, "strict": True, "schema": request.schema}
    return {"messages": sent, "response_format": {"type": "json_schema", "json_schema": form}}


def read_completion(payload: object, schema: dict[str, Any]) -> Answer:
    """The answer in a chat completion; a ValueError where it is no chat completion at all."""
    completion = _fields(payload)
    choices = completion.get("choices")
    if not isinstance(choices, list):
        raise ValueError("no choices")
    choice = _fields(choices[0]) if choices else {}
    message = _fields(choice.get("message"))
    finish, content = choice.get("finish_reason"), message.get("content")
    data = None
    if message.get("refusal") or finish == "content_filter":
        failure = Failure.REFUSED
    elif finish == "length":
        failure = Failure.TRUNCATED
    elif not isinstance(content, str) or not content.strip():
        failure = Failure.EMPTY
    else:
        data = _read(content, schema)
        failure = Failure.MALFORMED if data is None else None
    usage = _fields(completion.get("usage"))
    return Answer(
        data, failure, _count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens"))
    )


def fits(data: object, schema: dict[str, Any], root: dict[str, Any] | None = None) -> bool:
    """Whether data has the types, fields and choices of a JSON schema; bounds are not looked at."""
    root = schema if root is None else root
    if "$ref" in schema:
        target: Any = root
        for step in schema["$ref"].removeprefix("#/").split("/"):
            target = target[step]
        return fits(data, target, root)
    for keyword in ("anyOf", "oneOf"):
        if keyword in schema and not any(fits(data, part, root) for part in schema[keyword]):
            return False
    if not all(fits(data, part, root) for part in schema.get("allOf", ())):
        return False
    choices = [schema["const"]] if "const" in schema else schema.get("enum", [data])
    if data not in choices:
        return False
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(_is(kind, data) for kind in kinds):
        return False
    if isinstance(data, dict):
        parts = schema.get("properties", {})
        rest = schema.get("additionalProperties", True)
        return all(name in data for name in schema.get("required", ())) and all(
            fits(value, parts[name], root) if name in parts else _allowed(value, rest, root)
            for name, value in cast("dict[str, object]", data).items()
        )
    if isinstance(data, list):
        return all(fits(item, schema.get("items", {}), root) for item in cast("list[object]", data))
    return True


def _read(content: str, schema: dict[str, Any]) -> dict[str, Any] | None:
    """The JSON object of an answer, where it is one that fits and can be written down again."""
    inner = content[content.find("{") : content.rfind("}") + 1]
    for text in (content, inner):  # models that are only asked for JSON like to frame it
        try:
            data = parse_json(text)
            json.dumps(data, ensure_ascii=False).encode()  # half characters, runaway nesting
        except (FormatError, UnicodeEncodeError, RecursionError):
            continue
        if isinstance(data, dict) and fits(data, schema):
            return cast("dict[str, Any]", data)
    return None


def _is(kind: str, data: object) -> bool:
    if isinstance(data, bool):
        return kind == "boolean"
    types: dict[str, Any] = {
        "object": dict,
        "array": list,
        "string": str,
        "integer": int,
        "number": int | float,
        "null": type(None),
    }
    return kind in types and isinstance(data, types[kind])


def _allowed(value: object, rest: bool | dict[str, Any], root: dict[str, Any]) -> bool:
    return fits(value, rest, root) if isinstance(rest, dict) else rest


def _fields(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _count(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
