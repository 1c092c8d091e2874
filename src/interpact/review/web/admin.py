"""The admins' pages: progress, people, adjudication and reports."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Form, HTTPException, Path, Request
from fastapi.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response

from interpact.errors import InterPactError
from interpact.review.people import Person, Role
from interpact.review.progress import counts, progress, versions
from interpact.review.questions import Refused
from interpact.review.report import report
from interpact.review.settled import Read, readings, settlement
from interpact.review.store import Store
from interpact.review.versions import RULING, Conflict, Queue
from interpact.review.web.desk import ADesk, Admin, AStore, Desk, OwnForm, ThePeople
from interpact.review.web.reading import Base, Name, Position, Shown

router = APIRouter(prefix="/admin", default_response_class=HTMLResponse)


async def _fields(request: Request) -> dict[str, str]:
    """All text fields of a form."""
    return {k: v for k, v in (await request.form()).items() if isinstance(v, str)}


Id = Annotated[int, Path(ge=1, le=2**53)]


@router.get("")
def overview(
    request: Request, desk: ADesk, store: AStore, people: ThePeople, person: Admin
) -> Response:
    """Queues, progress and people."""
    return _overview(request, desk, store, people)


@router.post("/people", dependencies=[OwnForm])
def add_person(
    request: Request,
    desk: ADesk,
    store: AStore,
    people: ThePeople,
    person: Admin,
    name: Annotated[str, Form(max_length=100)],
    role: Annotated[Role, Form()] = Role.REVIEWER,
) -> Response:
    """Add somebody; gives the link with which they choose a password."""
    try:
        added = people.add(name, role)
    except InterPactError as error:
        return _overview(request, desk, store, people, problem=str(error), status=422)
    store.note(person.name, f"added {role} {added.name}")
    return _invited(request, desk, store, people, added)


@router.post("/people/{id}/invite", dependencies=[OwnForm])
def invite(
    request: Request, desk: ADesk, store: AStore, people: ThePeople, person: Admin, id: Id
) -> Response:
    """A new link, for somebody who lost theirs or their password."""
    found = _person(people, id)
    store.note(person.name, f"invited {found.name}")
    return _invited(request, desk, store, people, found)


@router.post("/people/{id}/disable", dependencies=[OwnForm])
def disable(
    store: AStore,
    people: ThePeople,
    person: Admin,
    id: Id,
    disabled: Annotated[bool, Form()] = True,
) -> Response:
    """Shut somebody out, or let them in again."""
    found = _person(people, id)
    if found.id == person.id:
        raise HTTPException(422, "you cannot shut yourself out")
    people.disable(found.id, disabled)
    store.note(person.name, f"{'disabled' if disabled else 'enabled'} {found.name}")
    return RedirectResponse("/admin", 303)


@router.post("/queues/{name}/release/{id}", dependencies=[OwnForm])
def release(store: AStore, people: ThePeople, person: Admin, name: Name, id: Id) -> Response:
    """Give somebody's unfinished items to others."""
    queue, found = _queue(store, name), _person(people, id)
    number = store.release(queue.name, found.id)
    store.note(person.name, f"released {number} items of {found.name} in {queue.name}")
    return RedirectResponse("/admin", 303)


@router.get("/queues/{name}")
def queue_page(request: Request, desk: ADesk, store: AStore, person: Admin, name: Name) -> Response:
    """The items that all readers have finished; those in dispute first."""
    queue = _queue(store, name)
    read = sorted(readings(store, queue), key=lambda r: (r.status != "disputed", r.position))
    return desk.page("queue.html", request, queue=queue, read=read, counts=counts(store, name))


@router.get("/queues/{name}/report")
def report_page(
    request: Request, desk: ADesk, store: AStore, person: Admin, name: Name
) -> Response:
    """The report so far."""
    return desk.page("report.html", request, report=report(store, _queue(store, name)))


@router.get("/queues/{name}/report.md", response_class=PlainTextResponse)
def report_text(store: AStore, person: Admin, name: Name) -> Response:
    """The report as Markdown."""
    return PlainTextResponse(report(store, _queue(store, name)).markdown())


@router.get("/queues/{name}/{position}")
def adjudicate_page(
    request: Request, desk: ADesk, store: AStore, person: Admin, name: Name, position: Position
) -> Response:
    """An item that all readers have finished: their answers, and the ruling."""
    return _adjudication(request, desk, store, _queue(store, name), position)


@router.post("/queues/{name}/{position}", dependencies=[OwnForm])
def rule(
    request: Request,
    desk: ADesk,
    store: AStore,
    person: Admin,
    name: Name,
    position: Position,
    base: Base,
    values: Annotated[dict[str, str], Depends(_fields)],
    reason: Annotated[str, Form(max_length=20_000)] = "",
) -> Response:
    """Settle an item, with the reason; the other fields are answers to its questions."""
    queue = _queue(store, name)
    try:
        store.rule(name, position, person.id, base, values, reason)
    except (Refused, Conflict) as error:
        status = 409 if isinstance(error, Conflict) else 422
        return _adjudication(request, desk, store, queue, position, status, str(error))
    return RedirectResponse(f"/admin/queues/{name}/{position}", 303)


@router.post("/queues/{name}/{position}/undo", dependencies=[OwnForm])
def undo_ruling(
    request: Request,
    desk: ADesk,
    store: AStore,
    person: Admin,
    name: Name,
    position: Position,
    base: Base,
) -> Response:
    """Take a ruling back."""
    queue = _queue(store, name)
    try:
        store.undo_ruling(name, position, person.id, base)
    except (Refused, Conflict) as error:
        status = 409 if isinstance(error, Conflict) else 422
        return _adjudication(request, desk, store, queue, position, status, str(error))
    return RedirectResponse(f"/admin/queues/{name}/{position}", 303)


def _overview(
    request: Request,
    desk: Desk,
    store: Store,
    people: ThePeople,
    link: str | None = None,
    invited: Person | None = None,
    problem: str | None = None,
    status: int = 200,
) -> Response:
    queues = [(queue, counts(store, queue.name)) for queue in store.queues()]
    return desk.page(
        "admin.html",
        request,
        status,
        queues=queues,
        progress=progress(store),
        people=people.all(),
        link=link,
        invited=invited,
        problem=problem,
    )


def _invited(
    request: Request, desk: Desk, store: Store, people: ThePeople, person: Person
) -> Response:
    if person.disabled:
        raise HTTPException(422, "let this person in again first")
    link = str(request.url_for("join_page", token=people.invite(person.id)))
    return _overview(request, desk, store, people, link=link, invited=person)


def _adjudication(
    request: Request,
    desk: Desk,
    store: Store,
    queue: Queue,
    position: int,
    status: int = 200,
    problem: str | None = None,
) -> Response:
    read = _read(store, queue, position)
    found = settlement(store, read)
    version = versions(store, read.id, RULING)
    return desk.page(
        "adjudicate.html",
        request,
        status,
        queue=queue,
        form=queue.form,
        read=read,
        shown=Shown(read.shown),
        differing=read.differing(queue.form),
        settled=found,
        version=version,
        problem=problem,
    )


def _read(store: Store, queue: Queue, position: int) -> Read:
    for read in readings(store, queue):
        if read.position == position:
            return read
    raise HTTPException(404, "there is no such item, or not all readers have finished it")


def _queue(store: Store, name: str) -> Queue:
    try:
        return store.queue(name)
    except InterPactError as error:
        raise HTTPException(404, str(error)) from None


def _person(people: ThePeople, id: int) -> Person:
    for person in people.all():
        if person.id == id:
            return person
    raise HTTPException(404, "there is no such person")
