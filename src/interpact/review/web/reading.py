"""The reviewers' pages: one item after the other, every answer saved at once."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Form, HTTPException, Path, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from interpact.construct.operations import BRIEFS
from interpact.corpus.pairs import Operation
from interpact.errors import InterPactError
from interpact.review.people import Person
from interpact.review.questions import COMMENT, REVEALED, Refused
from interpact.review.store import Store
from interpact.review.versions import Conflict, Queue, Reading, Version
from interpact.review.web.desk import ADesk, AStore, Desk, OwnForm, Reader

router = APIRouter(prefix="/queues", default_response_class=HTMLResponse)

MANY_WORDS = 2_000  # beyond, differences are not looked for word by word

Name = Annotated[str, Path(max_length=60)]
Position = Annotated[int, Path(ge=1, le=10_000_000)]
Base = Annotated[int, Form(ge=0, le=10_000_000)]


@router.get("")
def queues(request: Request, desk: ADesk, store: AStore, person: Reader) -> Response:
    """The queues, and how far this reviewer is in each."""
    found = [(queue, store.own_positions(queue.name, person.id)) for queue in store.queues()]
    return desk.page("queues.html", request, queues=found)


@router.post("/{name}/next", dependencies=[OwnForm])
def next_item(store: AStore, person: Reader, name: Name) -> Response:
    """Go on where one left off, or with a new item."""
    _queue(store, name)
    position = store.next_position(name, person.id)
    where = f"/queues/{name}/done" if position is None else f"/queues/{name}/{position}"
    return RedirectResponse(where, 303)


@router.get("/{name}/done")
def done(request: Request, desk: ADesk, store: AStore, person: Reader, name: Name) -> Response:
    """Nothing is left to read for this reviewer."""
    own = store.own_positions(name, person.id)
    return desk.page("done.html", request, queue=_queue(store, name), own=own)


@router.get("/{name}/{position}")
def item(
    request: Request, desk: ADesk, store: AStore, person: Reader, name: Name, position: Position
) -> Response:
    """An item of this reviewer."""
    return _item(request, desk, _reading(store, name, position, person), store, person)


@router.post("/{name}/{position}", dependencies=[OwnForm])
def answer(
    request: Request,
    desk: ADesk,
    store: AStore,
    person: Reader,
    name: Name,
    position: Position,
    base: Base,
    question: Annotated[str, Form(max_length=60)],
    value: Annotated[str, Form(max_length=20_000)] = "",
) -> Response:
    """Save one answer; `base` is the version of the answer that the page was made from."""
    _reading(store, name, position, person)
    return _after(
        *(request, desk, store, person, name, position),
        lambda: store.save(name, position, person.id, base, question, value),
    )


@router.post("/{name}/{position}/undo", dependencies=[OwnForm])
def undo(
    request: Request,
    desk: ADesk,
    store: AStore,
    person: Reader,
    name: Name,
    position: Position,
    base: Base,
) -> Response:
    """Take the last change back."""
    _reading(store, name, position, person)
    return _after(
        *(request, desk, store, person, name, position),
        lambda: store.undo(name, position, person.id, base),
    )


def _after(
    request: Request,
    desk: Desk,
    store: Store,
    person: Person,
    name: str,
    position: int,
    act: Callable[[], Version],
) -> Response:
    """The item after something was done to it, also where that was refused."""
    part = request.headers.get("hx-request") == "true"
    status, told = 200, "Saved."
    try:
        version = act()
        told = f"Saved (version {version.number})."
    except (Conflict, Refused) as error:
        status, told = 409 if isinstance(error, Conflict) else 422, str(error)
    if status == 200 and not part:
        return RedirectResponse(f"/queues/{name}/{position}", 303)
    reading = _reading(store, name, position, person)
    return _item(request, desk, reading, store, person, part, status, told)


def _item(
    request: Request,
    desk: Desk,
    reading: Reading,
    store: Store,
    person: Person,
    part: bool = False,
    status: int = 200,
    told: str = "",
) -> Response:
    form = reading.queue.form
    answer = reading.version.answer
    own = store.own_positions(reading.queue.name, person.id)
    positions = [at for at, _ in own]
    place = reading.place - 1
    pending = [q for q in form.open(answer) if q.name not in answer]
    return desk.page(
        "_item.html" if part else "item.html",
        request,
        status,
        reading=reading,
        form=form,
        shown=Shown(reading.shown),
        open={q.name for q in form.open(answer)} if not reading.locked else set(),
        active=pending[0].name if pending else None,
        complete=form.complete(answer),
        may_reveal=bool(form.reveal) and form.early(answer) and REVEALED not in answer,
        brief=_brief(reading.revealed),
        before=positions[place - 1] if place else None,
        after=positions[place + 1] if place + 1 < len(positions) else None,
        finished=sum(complete for _, complete in own),
        total=len(own),
        told=told,
        wrong=status != 200,
        COMMENT=COMMENT,
        REVEALED=REVEALED,
    )


def _brief(revealed: Mapping[str, Any] | None) -> str | None:
    """What an operation is meant to do."""
    if not revealed or "operation" not in revealed:
        return None
    return BRIEFS[Operation(revealed["operation"])].definition


def _queue(store: Store, name: str) -> Queue:
    try:
        return store.queue(name)
    except InterPactError as error:
        raise HTTPException(404, str(error)) from None


def _reading(store: Store, name: str, position: int, person: Person) -> Reading:
    found = store.reading(name, position, person.id)
    if found is None:
        raise HTTPException(404, "there is no such item among yours")
    return found


# ---- How an item looks -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of words; `mark` is ins, del or empty."""

    text: str
    mark: str = ""


@dataclass(frozen=True, slots=True)
class Unit:
    """An evidence unit before and after the change; None where it is not there."""

    id: str
    conditions: tuple[str, ...]
    target: bool
    before: tuple[Piece, ...] | None
    after: tuple[Piece, ...] | None

    @property
    def change(self) -> str:
        """What became of the unit, as far as the texts show."""
        if self.before is None:
            return "added"
        if self.after is None:
            return "gone"
        return "changed" if any(p.mark for p in (*self.before, *self.after)) else "same"


class Shown:
    """The content of an item, ready for a page."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.data = data
        self.target_evidence = data["target"]["evidence"]
        self.target_condition = data["target"]["condition"]
        self.compared = "after" in data

    @property
    def units(self) -> list[Unit]:
        """The units in order, each beside what became of it."""
        if not self.compared:
            return [self._unit(u, None, (Piece(u["text"]),)) for u in self.data["before"]]
        known = {unit["id"] for unit in self.data["before"]}
        left = list(self.data["after"])
        found: list[Unit] = []

        def add_new() -> None:
            while left and left[0]["id"] not in known:
                new = left.pop(0)
                found.append(Unit(new["id"], (), False, None, (Piece(new["text"], "ins"),)))

        for unit in self.data["before"]:
            add_new()
            stays = bool(left) and left[0]["id"] == unit["id"]
            found.append(self._unit(unit, left.pop(0)["text"] if stays else None))
        add_new()
        return found

    def _unit(
        self, unit: Mapping[str, Any], text: str | None, plain: tuple[Piece, ...] | None = None
    ) -> Unit:
        target = unit["id"] == self.target_evidence
        own = (unit["id"], tuple(unit["conditions"]), target)
        if plain is not None:
            return Unit(*own, plain, plain)
        if text is None:
            return Unit(*own, (Piece(unit["text"], "del"),), None)
        return Unit(*own, *compared(unit["text"], text))


def compared(before: str, after: str) -> tuple[tuple[Piece, ...], tuple[Piece, ...]]:
    """Both texts with what differs marked, word by word."""
    if before == after:
        return (Piece(before),), (Piece(after),)
    one, two = re.findall(r"\s+|[^\s\w]|\w+", before), re.findall(r"\s+|[^\s\w]|\w+", after)
    if max(len(one), len(two)) > MANY_WORDS:
        return (Piece(before, "del"),), (Piece(after, "ins"),)
    old: list[Piece] = []
    new: list[Piece] = []
    for kind, a, b, c, d in difflib.SequenceMatcher(None, one, two, autojunk=False).get_opcodes():
        if a < b:
            old.append(Piece("".join(one[a:b]), "" if kind == "equal" else "del"))
        if c < d:
            new.append(Piece("".join(two[c:d]), "" if kind == "equal" else "ins"))
    return tuple(old), tuple(new)
