"""The application: pages for cases, for readers and for admins, and any further routers."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence

from fastapi import APIRouter, Depends, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, RedirectResponse, Response
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException

from interpact.case.case import Case
from interpact.errors import InterPactError
from interpact.review.people import People
from interpact.review.store import Store
from interpact.review.web import admin, cases, entry, reading
from interpact.review.web.desk import HERE, Desk, Estimate, Shelf, get_who, signed_in
from interpact.review.web.guard import MAX_BODY, Guard


def create_app(
    store: Store | None = None,
    cases_at_hand: Iterable[Case] = (),
    *,
    estimate: Estimate | None = None,
    routers: Sequence[APIRouter] = (),
    hosts: Sequence[str] | None = None,
    max_body: int = MAX_BODY,
) -> FastAPI:
    """The web application; without a store only for looking at cases, with nobody signing in.

    `estimate` gives state distributions of cases without labels. `routers` are mounted beside the
    pages, for those who are signed in. `hosts` are the names that the server answers to.
    """
    app = FastAPI(title="InterPact", docs_url=None, redoc_url=None)
    people = None if store is None else People(store.database, store.clock)
    app.state.desk = Desk(Shelf(cases_at_hand), store, people, estimate)
    for module in (entry, cases, reading, admin):
        app.include_router(module.router)
    for router in routers:
        app.include_router(router, dependencies=[Depends(signed_in)])
    app.mount("/static", _Static(directory=HERE / "static"))
    app.add_exception_handler(HTTPException, _told)
    app.add_exception_handler(RequestValidationError, _told)
    app.add_exception_handler(InterPactError, _told)
    secret = secrets.token_hex() if store is None else store.database.fact("secret")
    app.add_middleware(Guard, secret=secret, hosts=hosts, max_body=max_body)
    return app


class _Static(StaticFiles):
    """Files of the package; browsers ask each time whether they have changed."""

    def file_response(self, *args: object, **kwargs: object) -> Response:
        response = super().file_response(*args, **kwargs)  # type: ignore[arg-type]
        response.headers["Cache-Control"] = "no-cache"
        return response


def _told(request: Request, error: Exception) -> Response:
    """An error in words: as a page, as a notice within a page, or as JSON."""
    headers: dict[str, str] = {}
    if isinstance(error, HTTPException):
        status, what = error.status_code, str(error.detail)
        headers = dict(error.headers or {})
    elif isinstance(error, RequestValidationError):
        status, what = 422, "; ".join(_field(e) for e in error.errors()[:5])
    else:
        status, what = 400, str(error)
    desk: Desk = request.app.state.desk
    get_who(request, desk)
    part = request.headers.get("hx-request") == "true"
    if status == 401 and part:
        return Response(status_code=401, headers={"HX-Redirect": "/login"})
    page = "text/html" in request.headers.get("accept", "")
    if status == 401 and page and request.method == "GET":
        return RedirectResponse("/login", 303)
    if part:
        headers |= {"HX-Retarget": "#notice", "HX-Reswap": "innerHTML"}
        response: Response = desk.page("_notice.html", request, status, what=what)
    elif page:
        response = desk.page("error.html", request, status, what=what)
    else:
        response = JSONResponse({"detail": what}, status)
    response.headers.update(headers)
    return response


def _field(error: dict[str, object]) -> str:
    place = error["loc"]
    names = ".".join(map(str, place[1:])) if isinstance(place, tuple) else ""
    return f"{names}: {error['msg']}" if names else str(error["msg"])
