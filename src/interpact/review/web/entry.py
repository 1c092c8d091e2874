"""The front door: signing in and out, and accepting an invitation."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, HTTPException, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from interpact.errors import InterPactError
from interpact.review.people import LONGEST, TooMany
from interpact.review.web.desk import ADesk, Anyone, OwnForm, ThePeople, Who
from interpact.review.web.guard import Visitor, new_token

router = APIRouter(default_response_class=HTMLResponse)

Name = Annotated[str, Form(max_length=100)]
Password = Annotated[str, Form(max_length=LONGEST)]


@router.get("/")
def home(who: Anyone) -> Response:
    """Where each kind of visitor begins."""
    if who.viewer:
        return RedirectResponse("/cases", 303)
    if who.person is None:
        return RedirectResponse("/login", 303)
    return RedirectResponse("/admin" if who.admin else "/queues", 303)


@router.get("/login")
def login_page(request: Request, desk: ADesk, people: ThePeople, who: Anyone) -> Response:
    """The form to sign in."""
    if who.person is not None:
        return RedirectResponse("/", 303)
    return desk.page("login.html", request, problem=None, name="")


@router.post("/login", dependencies=[OwnForm])
def login(
    request: Request, desk: ADesk, people: ThePeople, name: Name, password: Password
) -> Response:
    """Sign in."""
    request.state.who = Who(None)
    address = request.client.host if request.client else ""
    try:
        person = people.check(name, password, address)
    except TooMany as error:
        response = desk.page("login.html", request, 429, problem=str(error), name=name)
        response.headers["Retry-After"] = "900"
        return response
    if person is None:
        told = "this name and password do not fit"
        return desk.page("login.html", request, 403, problem=told, name=name)
    request.state.visitor.become(people.open_session(person.id), lasting=True)
    return RedirectResponse("/", 303)


@router.post("/logout", dependencies=[OwnForm])
def logout(request: Request, people: ThePeople) -> Response:
    """Sign out."""
    visitor: Visitor = request.state.visitor
    people.close_session(visitor.token)
    visitor.become(new_token(), lasting=False)
    return RedirectResponse("/login", 303)


@router.get("/join/{token}")
def join_page(
    request: Request, desk: ADesk, people: ThePeople, who: Anyone, token: str
) -> Response:
    """The form to choose a password."""
    person = people.invited(token)
    if person is None:
        raise HTTPException(404, "this invitation is used up or out of date; ask for a new one")
    return desk.page("join.html", request, person=person, problem=None)


@router.post("/join/{token}", dependencies=[OwnForm])
def join(
    request: Request, desk: ADesk, people: ThePeople, token: str, password: Password
) -> Response:
    """Choose a password and sign in."""
    request.state.who = Who(None)
    person = people.invited(token)
    if person is None:
        raise HTTPException(404, "this invitation is used up or out of date; ask for a new one")
    try:
        people.set_password(person.id, password)
    except InterPactError as error:
        return desk.page("join.html", request, 422, person=person, problem=str(error))
    request.state.visitor.become(people.open_session(person.id), lasting=True)
    return RedirectResponse("/", 303)
