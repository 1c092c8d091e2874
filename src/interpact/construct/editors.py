"""Editors: whoever writes the new text of a target unit, or abstains."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from interpact.construct.ask import Ask, Failure, Request
from interpact.construct.prompts import edit_request
from interpact.corpus.pairs import LabelledRoot, Operation

DELETION = "deletion"
"""The editor of removals: no text is written."""


@dataclass(frozen=True, slots=True)
class Edit:
    """The new text of a unit, the unit to insert, or nothing for a removal; and who wrote it."""

    text: str | None
    editor: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Abstention:
    """No edit: `reason` is one of few, to be counted; `note` is the editor's own words."""

    reason: str
    note: str = ""


class Editor(Protocol):
    """Writes edits; whatever it does with the labels of a root, no judge learns of it."""

    @property
    def name(self) -> str:
        """The name that pairs carry as their editor."""
        ...

    def request(self, root: LabelledRoot, operation: Operation) -> Request | None:
        """The request that an edit needs, or none if it needs no model."""
        ...

    async def edit(self, root: LabelledRoot, operation: Operation) -> Edit | Abstention:
        """An edit of the root's target unit for any operation but removal, or an abstention."""
        ...


@dataclass(frozen=True, slots=True)
class ModelEditor:
    """A frozen language model; it is never shown states or decisions."""

    ask: Ask
    name: str

    def request(self, root: LabelledRoot, operation: Operation) -> Request:
        """The prompt for the source and the operation."""
        return edit_request(root.root, operation)

    async def edit(self, root: LabelledRoot, operation: Operation) -> Edit | Abstention:
        """The model's edit; what it cannot or will not answer is an abstention with its reason."""
        answer = await self.ask(self.request(root, operation))
        if answer.data is None:
            if answer.failure is Failure.REFUSED:
                return Abstention("the model refused")
            return Abstention(f"unusable answer: {answer.failure or Failure.MALFORMED}")
        abstains, text = answer.data.get("abstain"), answer.data.get("text")
        note = str(answer.data.get("reason", "")).strip()
        if abstains is True:
            return Abstention("the editor found no suitable edit", note)
        if abstains is not False or not isinstance(text, str):
            return Abstention(f"unusable answer: {Failure.MALFORMED}")
        if not text.strip():
            return Abstention(f"unusable answer: {Failure.EMPTY}")
        return Edit(text.strip(), self.name, note)


@dataclass(frozen=True, slots=True)
class ScriptedEditor:
    """Gives the texts it was given, by `<root>/<operation>`; abstains from all others."""

    texts: Mapping[str, str]
    name: str = "scripted"

    def request(self, root: LabelledRoot, operation: Operation) -> None:
        """None: nothing is asked."""

    async def edit(self, root: LabelledRoot, operation: Operation) -> Edit | Abstention:
        """The text of the script."""
        text = self.texts.get(f"{root.root.id}/{operation}")
        return Abstention("not in the script") if text is None else Edit(text, self.name)


async def edited(editor: Editor, root: LabelledRoot, operation: Operation) -> Edit | Abstention:
    """The edit of a root for any operation: removal deletes, the others ask the editor."""
    if operation is Operation.REMOVAL:
        return Edit(None, DELETION)
    return await editor.edit(root, operation)
