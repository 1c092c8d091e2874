"""Label Studio JSON: queues out, answers out and in.

What is shown there is what reviewers see here, and the operation, which its interface hides until
the state is chosen. That is blindness by display only; here the server holds it back.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast
from xml.sax.saxutils import quoteattr

from interpact.case.formats import FormatError, decode, parse_json
from interpact.case.problems import InputProblems, Problem
from interpact.errors import InterPactError
from interpact.review.people import People, Person
from interpact.review.questions import COMMENT, REVEALED, Form, Refused
from interpact.review.store import Store
from interpact.review.versions import Queue


def tasks(store: Store, queue: Queue) -> list[dict[str, Any]]:
    """The items of a queue as tasks, with the finished answers as annotations."""
    found: list[dict[str, Any]] = []
    for row in store.database.all(
        "SELECT * FROM items WHERE queue = ? ORDER BY position", queue.name
    ):
        shown = json.loads(row["shown"])
        data = {
            "queue": queue.name,
            "item": row["position"],
            "rule": shown["rule"],
            "query": shown["query"],
            "conditions": _conditions(shown),
            "before": _units(shown, "before"),
            "after": _units(shown, "after") if "after" in shown else _tried(shown),
        }
        if row["revealed"]:
            data["operation"] = json.loads(row["revealed"])["operation"].replace("_", " ")
        found.append(
            {
                "id": row["id"],
                "data": data,
                "annotations": list(_annotations(store, queue.form, row["id"])),
            }
        )
    return found


def _conditions(shown: dict[str, Any]) -> str:
    target = shown["target"]["condition"]
    return "\n".join(
        f"{'TARGET ' if c == target else ''}{c}: {text} (before: {shown['states'][c]})"
        for c, text in shown["conditions"].items()
    )


def _units(shown: dict[str, Any], when: str) -> str:
    target = shown["target"]["evidence"]
    return "\n".join(
        f"{'TARGET ' if unit['id'] == target else ''}{unit['id']}: {unit['text']}"
        for unit in shown[when]
    )


def _tried(shown: dict[str, Any]) -> str:
    return "\n".join(
        f"{i['operation']}: {i.get('text') or '(removed)'} -> {i['state_after']}, {i['decision_after']}"
        for i in shown["interventions"]
    )


def _annotations(store: Store, form: Form, item: int) -> Iterator[dict[str, Any]]:
    rows = store.database.all(
        "SELECT p.name, a.answer, a.at, "
        "(SELECT sum(b.seconds) FROM answers b WHERE b.item = a.item AND b.author = a.author) "
        "AS seconds FROM answers a JOIN people p ON p.id = a.author "
        "JOIN claims c ON c.item = a.item AND c.person = a.author AND c.complete "
        "WHERE a.item = ? AND a.version = (SELECT max(b.version) FROM answers b "
        "WHERE b.item = a.item AND b.author = a.author) ORDER BY p.id",
        item,
    )
    for row in rows:
        answer = json.loads(row["answer"])
        result: list[dict[str, Any]] = [
            {
                "from_name": question.name,
                "to_name": "case",
                "type": "choices",
                "value": {"choices": [answer[question.name]]},
            }
            for question in form.questions
        ]
        if COMMENT in answer:
            result.append(
                {
                    "from_name": COMMENT,
                    "to_name": "case",
                    "type": "textarea",
                    "value": {"text": [answer[COMMENT]]},
                }
            )
        yield {
            "completed_by": {"email": row["name"]},
            "created_at": datetime.fromtimestamp(row["at"], UTC).isoformat(timespec="seconds"),
            "lead_time": row["seconds"],
            "was_cancelled": False,
            "result": result,
        }


def interface(form: Form) -> str:
    """The labelling interface of a queue; questions after the reveal wait for the state."""
    lines = ["<View>"]
    lines += [f'  <Header value="{name}"/>\n  <Text name="{key}" value="${name}"/>' for key, name in (
        ("case", "query"), ("rule", "rule"), ("conditions", "conditions"),
        ("before", "before"), ("after", "after"),
    )]  # fmt: skip
    for question in form.questions:
        if question.late:
            lines.append(
                '  <View visibleWhen="choice-selected" whenTagName="state">\n'
                '  <Text name="operation" value="$operation"/>'
            )
        lines.append(f"  <Header value={quoteattr(question.text)}/>")
        lines.append(
            f'  <Choices name="{question.name}" toName="case" choice="single" required="true">'
        )
        lines += [
            f'    <Choice value="{choice.value}" alias="{choice.value}" hint={quoteattr(choice.words)}/>'
            for choice in question.choices
        ]
        lines.append("  </Choices>")
        if question.late:
            lines.append("  </View>")
    lines += [f'  <TextArea name="{COMMENT}" toName="case"/>', "</View>", ""]
    return "\n".join(lines)


def take_in(store: Store, queue: Queue, path: Path) -> int:
    """Take the annotations of a file in as answers; all of them, or none where one is not sound.

    People are those whose name or e-mail Label Studio tells; they must be reviewers here. An answer
    that is there already stays.
    """
    try:
        data = parse_json(decode(path.read_bytes()))
    except FormatError as error:
        raise InputProblems([Problem(str(path), error.line, "", error.what)]) from None
    if not isinstance(data, list):
        raise InterPactError(f"{path}: is no Label Studio JSON; export it as JSON there")
    people = {person.name.casefold(): person for person in People(store.database).all()}
    problems: list[Problem] = []
    answers: list[tuple[int, Person, dict[str, str]]] = []
    for number, task in enumerate(cast("list[Any]", data)):
        where = f"[{number}]"
        try:
            answers += _answers(queue, task, people)
        except Refused as error:
            problems.append(Problem(str(path), None, where, str(error)))
        except (KeyError, TypeError, AttributeError, IndexError, ValueError):
            told = (
                "is no task of this queue with annotations; export the tasks with `review export`"
            )
            problems.append(Problem(str(path), None, where, told))
    if problems:
        raise InputProblems(problems)
    return sum(_save(store, queue, *answer) for answer in answers)


def _answers(
    queue: Queue, task: dict[str, Any], people: dict[str, Person]
) -> Iterator[tuple[int, Person, dict[str, str]]]:
    item = int(task["data"]["item"])
    if task["data"]["queue"] != queue.name or not 1 <= item <= queue.items:
        raise Refused(f'is of another queue than "{queue.name}"')
    for annotation in task.get("annotations", []):
        if annotation.get("was_cancelled"):
            continue
        by = annotation["completed_by"]
        name = str(by["email"] if isinstance(by, dict) else by)
        person = people.get(name.casefold())
        if person is None:
            raise Refused(f'"{name}" is nobody here; add them with `interpact review person`')
        given: dict[str, str] = {}
        for result in annotation["result"]:
            value = result["value"]
            given[result["from_name"]] = (value.get("choices") or value["text"])[0]
        answer: dict[str, str] = {}
        for question in queue.form.questions:
            if question.late and REVEALED not in answer:
                answer = queue.form.changed(answer, REVEALED, "yes")
            if question.name not in given:
                raise Refused(f"{name} has not answered: {question.name}")
            answer = queue.form.changed(answer, question.name, given[question.name])
        if given.get(COMMENT):
            answer = queue.form.changed(answer, COMMENT, given[COMMENT])
        yield item, person, answer


def _save(
    store: Store, queue: Queue, position: int, person: Person, answer: dict[str, str]
) -> bool:
    store.claim(queue.name, position, person.id)
    reading = store.reading(queue.name, position, person.id)
    if reading is None or reading.version.answer or reading.locked:
        return False
    version = reading.version
    for name, value in answer.items():
        version = store.save(queue.name, position, person.id, version.number, name, value)
    return True
