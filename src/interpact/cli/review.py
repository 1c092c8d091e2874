"""Commands of the review: serve, audit and review."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from interpact.cli.show import count, say
from interpact.errors import InterPactError

if TYPE_CHECKING:
    from fastapi import APIRouter

    from interpact.case.case import Case
    from interpact.review.estimate import Estimator
    from interpact.review.store import Store

Folder = Annotated[Path, typer.Argument(metavar="DIR", help="A corpus folder.")]
Reviewed = Annotated[
    Path, typer.Argument(metavar="DIR", help="The folder whose review.sqlite is meant.")
]
Name = Annotated[str, typer.Option("--name", help="The name of the queue.")]
Readers = Annotated[
    int | None, typer.Option(help="How many people read each item, independently.", min=1, max=20)
]

API_KEY = "INTERPACT_API_KEY"

audits = typer.Typer(no_args_is_help=True, help="The blind semantic audit of a corpus's pairs.")
reviews = typer.Typer(
    no_args_is_help=True, help="Queues for people, who they are, and what they answered."
)


def add_to(app: typer.Typer) -> None:
    """Add these commands."""
    app.command("serve")(serve)
    app.add_typer(audits, name="audit")
    app.add_typer(reviews, name="review")


def serve(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="PATH",
            help="Case files and corpus folders; with a folder that holds a review, people sign in.",
        ),
    ] = None,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port; 0 takes a free one.", min=0)] = 8000,
    allow_host: Annotated[
        list[str],
        typer.Option("--allow-host", help="A name the server is reached by; repeatable."),
    ] = [],  # noqa: B006 - typer copies it
    certificate: Annotated[
        Path | None, typer.Option(help="Certificate chain (PEM), to serve over TLS.")
    ] = None,
    key: Annotated[Path | None, typer.Option(help="Private key (PEM) of the certificate.")] = None,
    verifier: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER",
            help="Estimate the states of cases with this verifier; `shipped` is the one that comes along.",
        ),
    ] = None,
    behind_proxy: Annotated[
        bool,
        typer.Option(
            "--behind-proxy", help="Believe a proxy on this machine about TLS and clients."
        ),
    ] = False,
) -> None:
    """Serve the case page, the HTTP API, and the review of a folder if there is one.

    The API (POST /v1/judge) is for those who are signed in, or, with a key in $INTERPACT_API_KEY,
    for programs that send it.
    """
    with _web():
        import uvicorn

        from interpact.review.web.app import create_app
    from contextlib import ExitStack

    from interpact.review.backup import in_use
    from interpact.review.database import FILE, Database
    from interpact.review.store import Store

    asked = paths or []
    folders = [path for path in asked if (path / FILE).is_file()]
    if len(folders) > 1:
        raise InterPactError(f"{folders[1]}: serve one review at a time")
    local = {"127.0.0.1", "localhost", "::1"}
    hosts = [*allow_host, *local] if allow_host or host in local else None
    with ExitStack() as stack:
        store = None
        if folders:
            stack.enter_context(in_use(folders[0]))
            store = Store(stack.enter_context(Database.open(folders[0] / FILE)))
        estimate = None if verifier is None else _estimator(verifier)
        api = _api(estimate)
        keyed = bool(os.environ.get(API_KEY))  # then programs need not sign in
        app = create_app(
            store,
            _cases(asked),
            estimate=estimate,
            routers=[] if keyed else [api],
            hosts=hosts,
        )
        if keyed:
            app.include_router(api)
        config = uvicorn.Config(
            app,
            host=host,
            port=port,
            log_level="warning",
            access_log=False,
            server_header=False,
            proxy_headers=behind_proxy,
            ssl_certfile=certificate,
            ssl_keyfile=key,
        )
        server = uvicorn.Server(config)
        sock = config.bind_socket()
        sock.listen(2048)  # who comes before the server is up waits
        scheme = "https" if certificate else "http"
        shown = f"[{host}]" if ":" in host else host
        say(f"open {scheme}://{shown}:{sock.getsockname()[1]}/ (stop with Ctrl-C)")
        server.run(sockets=[sock])


def _cases(paths: list[Path]) -> Iterator[Case]:
    from interpact.case.files import read_cases

    for path in paths:
        yield from read_cases(path)


def _estimator(name: str) -> Estimator:
    from interpact.judging.verifier import Verifier
    from interpact.review.estimate import Estimator

    verifier = Verifier.load(None if name == "shipped" else name)
    verifier.ready()
    return Estimator(verifier)


def _api(estimator: Estimator | None) -> APIRouter:
    """The HTTP API of judging; without a verifier it judges from given states alone."""
    from interpact.judging.api import router

    verifier = None if estimator is None else estimator.verifier
    return router(verifier, key=os.environ.get(API_KEY) or None)


@contextmanager
def _web() -> Generator[None]:
    try:
        yield
    except ModuleNotFoundError as error:
        raise InterPactError(
            f'{error.name} is not installed; the web page needs pip install "interpact[web]"'
        ) from None


@contextmanager
def _store(folder: Path, create: bool = False) -> Generator[Store]:
    from interpact.review.database import FILE, Database
    from interpact.review.store import Store

    if create and not folder.is_dir():
        raise InterPactError(f"{folder}: there is no such folder")
    with Database.open(folder / FILE, create) as database:
        yield Store(database)


# ---- The audit -------------------------------------------------------------------------------------


@audits.command("sample")
def audit_sample(
    folder: Folder,
    n: Annotated[int, typer.Option("--n", help="How many pairs to draw.", min=1)] = 400,
    seed: Annotated[int, typer.Option(help="Seed of the sample.")] = 0,
    readers: Readers = None,
    name: Name = "audit",
) -> None:
    """Draw pairs uniformly without replacement, to be judged blind."""
    from interpact.corpus.store import Corpus
    from interpact.review.audit import sample

    corpus = Corpus.read(folder)
    with _store(folder, create=True) as store:
        queue = sample(store, corpus, n, seed, name, readers)
    say(f"{count(queue.items, 'pair')} in queue {name}, {queue.readers} readers each")
    say(f"next: interpact review person {folder} NAME, then interpact serve {folder}")


@audits.command("report")
def audit_report(
    folder: Reviewed,
    name: Name = "audit",
    json_: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Print validity with Wilson intervals, agreement of the readers, and corrections."""
    import json

    from interpact.review.report import report

    with _store(folder) as store:
        found = report(store, store.queue(name))
    if json_:
        print(json.dumps(found.data(), ensure_ascii=False, indent=2))
    else:
        print(found.markdown(), end="")


@audits.command("apply")
def audit_apply(
    folder: Folder,
    name: Name = "audit",
    drop_failed: Annotated[
        bool,
        typer.Option(
            "--drop-failed",
            help="Remove pairs whose association, other states or fidelity failed.",
        ),
    ] = False,
) -> None:
    """Correct the states of the corpus's pairs by what was settled; every change is logged."""
    from interpact.review.audit import LOG, apply

    with _store(folder) as store:
        changes, kept = apply(store, name, folder, drop_failed)
    for change in changes:
        print(change.line())
    for pair in kept:
        say(f"{pair}: failed and was kept; --drop-failed removes it")
    say(f"{count(len(changes), 'change')}" + (f", in {folder / LOG}" if changes else ""))


# ---- Queues ----------------------------------------------------------------------------------------


@reviews.command("queue")
def review_queue(
    folder: Folder,
    kind: Annotated[
        str,
        typer.Argument(help="roots: criticality labels; construction: unsettled interventions."),
    ],
    readers: Readers = None,
    name: Annotated[str | None, typer.Option("--name", help="Instead of the kind.")] = None,
) -> None:
    """Make a queue of roots that the data does not decide, or of what the judges left open."""
    from interpact.review.queues import queue_construction, queue_roots

    makers = {"roots": queue_roots, "construction": queue_construction}
    if kind not in makers:
        raise InterPactError(f"{kind}: use one of {', '.join(makers)}")
    with _store(folder, create=True) as store:
        queue = makers[kind](store, folder, name or kind, readers)
    say(f"{count(queue.items, 'item')} in queue {queue.name}, {queue.readers} readers each")


@reviews.command("apply")
def review_apply(folder: Folder, name: Name) -> None:
    """Write what was settled into criticality.jsonl, or make pairs of it."""
    from interpact.review.queues import apply

    with _store(folder) as store:
        say(apply(store, name, folder))


@reviews.command("export")
def review_export(
    folder: Reviewed,
    name: Name,
    out: Annotated[Path, typer.Option("--out", "-o", help="The JSON file to write.")],
    config: Annotated[
        Path | None, typer.Option(help="Also write the labelling interface (XML) here.")
    ] = None,
) -> None:
    """Write a queue and its finished answers as Label Studio JSON."""
    import json

    from interpact.case.files import replacing
    from interpact.review.labelstudio import interface, tasks

    with _store(folder) as store:
        queue = store.queue(name)
        with replacing(out) as temporary:
            temporary.write_text(
                json.dumps(tasks(store, queue), ensure_ascii=False, indent=2) + "\n", "utf-8"
            )
        if config is not None:
            with replacing(config) as temporary:
                temporary.write_text(interface(queue.form), "utf-8")
    say(f"wrote {out}")


@reviews.command("import")
def review_import(
    folder: Reviewed,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Label Studio JSON.")],
    name: Name,
) -> None:
    """Take in answers that people gave in Label Studio; every one of them must be sound."""
    from interpact.review.labelstudio import take_in

    with _store(folder) as store:
        say(f"{count(take_in(store, store.queue(name), file), 'answer')} taken in")


# ---- People and backups ----------------------------------------------------------------------------


@reviews.command("person")
def review_person(
    folder: Reviewed,
    person: Annotated[str, typer.Argument(metavar="NAME", help="The name to sign in with.")],
    admin: Annotated[
        bool, typer.Option("--admin", help="Adjudicates and invites, but does not read.")
    ] = False,
    password: Annotated[
        bool, typer.Option("--password", help="Ask for a password here instead of a link.")
    ] = False,
    url: Annotated[
        str, typer.Option(help="Where the server is reached, for the link.")
    ] = "http://127.0.0.1:8000",
) -> None:
    """Add somebody, or give somebody a new password; prints the link to choose one."""
    from interpact.review.people import People, Role

    with _web(), _store(folder) as store:
        people = People(store.database)
        role = Role.ADMIN if admin else Role.REVIEWER
        found = people.named(person) or people.add(person, role)
        if found.role is not role:
            raise InterPactError(f"{found.name} is {found.role} and stays so; use another name")
        if password:
            people.set_password(found.id, typer.prompt("Password", hide_input=True, err=True))
            say(f"{found.name} may sign in as {found.role}")
        else:
            print(f"{url.rstrip('/')}/join/{people.invite(found.id)}")
            say(f"{found.name} chooses a password there; the link works once, within a week")


@reviews.command("people")
def review_people(folder: Reviewed) -> None:
    """List everybody, with how far they are."""
    from interpact.review.people import People
    from interpact.review.progress import progress

    with _store(folder) as store:
        print("| name | role | queue | finished | begun | median seconds |")
        print("|---|---|---|---:|---:|---:|")
        rows = progress(store)
        for person in People(store.database).all():
            role = f"{person.role}{', shut out' if person.disabled else ''}"
            own = [row for row in rows if row.person_id == person.id]
            for row in own:
                seconds = "-" if row.seconds is None else f"{row.seconds:.0f}"
                print(
                    f"| {person.name} | {role} | {row.queue} | {row.finished} | {row.begun} "
                    f"| {seconds} |"
                )
            if not own:
                print(f"| {person.name} | {role} | - | 0 | 0 | - |")


@reviews.command("backup")
def review_backup(
    folder: Reviewed,
    to: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write.")],
) -> None:
    """Copy the whole review, also while people work."""
    from interpact.review.backup import backup

    backup(folder, to)
    say(f"wrote {to}")


@reviews.command("restore")
def review_restore(
    folder: Reviewed,
    source: Annotated[Path, typer.Argument(metavar="FILE", help="A backup.")],
    force: Annotated[
        bool, typer.Option("--force", help="Replace the review that is there.")
    ] = False,
) -> None:
    """Put a backup back; the server must be stopped."""
    from interpact.review.backup import restore

    restore(folder, source, force)
    say(f"restored {folder}")
