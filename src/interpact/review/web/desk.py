"""What the pages share: the store, the people, the cases on the shelf, templates, and who asks."""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Annotated, Any

from fastapi import Depends, Form, HTTPException, Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from interpact.case.case import Case
from interpact.case.states import Decision, State
from interpact.judging.explain import flips, settles
from interpact.review.people import People, Person, Role
from interpact.review.store import Store
from interpact.review.web.guard import Visitor

Chances = Mapping[str, Sequence[float]]
Estimate = Callable[[Case], Chances]
"""For every condition of a case, the probabilities of satisfied, not satisfied and unknown."""

MAX_UPLOADS = 500
HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Shelved:
    """A case that can be opened; an uploaded one by its owner alone."""

    key: str
    case: Case
    owner: str | None = None


class Shelf:
    """The cases at hand: those the server was started with, and the latest uploads."""

    def __init__(self, cases: Iterable[Case] = ()) -> None:
        self.cases = {str(n): Shelved(str(n), case) for n, case in enumerate(cases, 1)}
        self._uploads: OrderedDict[str, Shelved] = OrderedDict()
        self._lock = Lock()

    def add(self, case: Case, owner: str) -> Shelved:
        """Keep an uploaded case under a name that nobody can guess."""
        made = Shelved(f"u-{secrets.token_urlsafe(16)}", case, owner)
        with self._lock:
            self._uploads[made.key] = made
            while len(self._uploads) > MAX_UPLOADS:
                self._uploads.popitem(last=False)
        return made

    def find(self, key: str) -> Shelved | None:
        """The case of that key."""
        return self.cases.get(key) or self._uploads.get(key)

    def uploads(self, owner: str) -> list[Shelved]:
        """The uploads of one owner, the latest first."""
        with self._lock:
            return [found for found in reversed(self._uploads.values()) if found.owner == owner]


@dataclass
class Desk:
    """Everything that the routes work with."""

    shelf: Shelf
    store: Store | None = None
    people: People | None = None
    estimate: Estimate | None = None
    templates: Environment = field(init=False)
    _estimated: dict[str, Chances] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.templates = Environment(
            loader=FileSystemLoader(HERE / "templates"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self.templates.globals.update(
            {"State": State, "Decision": Decision, "flips": flips, "settles": settles}
        )
        self.templates.filters["words"] = lambda value: str(value).replace("_", " ")

    def estimated(self, shelved: Shelved) -> Chances | None:
        """The estimated states of a case; a model is asked once for each."""
        if self.estimate is None:
            return None
        if shelved.key not in self._estimated:
            self._estimated[shelved.key] = self.estimate(shelved.case.text_only())
            while len(self._estimated) > MAX_UPLOADS:
                self._estimated.pop(next(iter(self._estimated)))
        return self._estimated[shelved.key]

    def page(
        self, template: str, request: Request, status: int = 200, **values: Any
    ) -> HTMLResponse:
        """A page or a part of one."""
        who: Who = request.state.who if hasattr(request.state, "who") else Who(None)
        text = self.templates.get_template(template).render(
            visitor=request.state.visitor, who=who, reviewing=self.store is not None, **values
        )
        return HTMLResponse(text, status)


@dataclass(frozen=True, slots=True)
class Who:
    """Who asks. Without a store nobody signs in, and everybody may look at the cases."""

    person: Person | None
    viewer: bool = False

    @property
    def admin(self) -> bool:
        """Whether this is an admin."""
        return self.person is not None and self.person.role is Role.ADMIN

    @property
    def reader(self) -> bool:
        """Whether this is a reviewer, who answers."""
        return self.person is not None and self.person.role is Role.REVIEWER


def get_desk(request: Request) -> Desk:
    """The desk of this application."""
    return request.app.state.desk


def get_who(request: Request, desk: Annotated[Desk, Depends(get_desk)]) -> Who:
    """The person whose cookie came with the request, if any."""
    visitor: Visitor = request.state.visitor
    if desk.people is None:
        found = Who(None, viewer=True)
    else:
        found = Who(None if visitor.fresh else desk.people.who(visitor.token))
    request.state.who = found
    return found


def signed_in(who: Annotated[Who, Depends(get_who)]) -> Who:
    """Anybody who may use the server at all."""
    if who.person is None and not who.viewer:
        raise HTTPException(401, "sign in first")
    return who


def reader(who: Annotated[Who, Depends(signed_in)]) -> Person:
    """A reviewer."""
    if who.person is None or not who.reader:
        raise HTTPException(403, "this page is for reviewers")
    return who.person


def admin(who: Annotated[Who, Depends(signed_in)]) -> Person:
    """An admin."""
    if who.person is None or not who.admin:
        raise HTTPException(403, "this page is for admins")
    return who.person


def get_store(desk: Annotated[Desk, Depends(get_desk)]) -> Store:
    """The store, where there is one."""
    if desk.store is None:
        raise HTTPException(404, "there is no review here")
    return desk.store


def get_people(desk: Annotated[Desk, Depends(get_desk)]) -> People:
    """The people, where there are any."""
    if desk.people is None:
        raise HTTPException(404, "there is no review here")
    return desk.people


def own_form(request: Request, csrf: Annotated[str, Form(max_length=200)] = "") -> None:
    """Refuses a form that was not made by this server for this visitor."""
    if not request.state.visitor.sent(csrf):
        raise HTTPException(403, "this form is out of date; go back, reload the page and try again")


ADesk = Annotated[Desk, Depends(get_desk)]
AStore = Annotated[Store, Depends(get_store)]
ThePeople = Annotated[People, Depends(get_people)]
Anyone = Annotated[Who, Depends(get_who)]
SignedIn = Annotated[Who, Depends(signed_in)]
Reader = Annotated[Person, Depends(reader)]
Admin = Annotated[Person, Depends(admin)]
OwnForm = Depends(own_form)
