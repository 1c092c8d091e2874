"""Which hypotheses of a contract make up its cases: random subsets, or a user's policies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import comb
from pathlib import Path
from random import Random
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from interpact.case.case import Id, Location, Text
from interpact.case.formats import (
    Document,
    FormatError,
    decode,
    json_document,
    parse_json,
    parse_yaml,
)
from interpact.case.problems import InputProblems, field_problems
from interpact.case.states import did_you_mean
from interpact.corpus.sources.published import failed, located
from interpact.errors import InterPactError

RULE = "A confidentiality agreement is acceptable only where all of the statements below are true of it."
QUERY = "Is this confidentiality agreement acceptable?"

_SIZES = range(2, 5)

Name = Annotated[Id, Field(max_length=100)]


@dataclass(frozen=True, slots=True)
class Subset:
    """Hypotheses, by key, that make up one case of a contract."""

    name: str
    keys: tuple[str, ...]
    rule: str = RULE
    query: str = QUERY


@dataclass(frozen=True, slots=True)
class RandomSubsets:
    """Different random subsets of 2 to 4 hypotheses, for each contract by its id and the seed alone."""

    per_contract: int = 4
    seed: int = 0

    def __post_init__(self) -> None:
        if self.per_contract < 1:
            raise InterPactError(
                f"{self.per_contract} subsets per contract give no case; ask for at least 1"
            )

    def draw(self, document: str, keys: Sequence[str]) -> list[Subset]:
        """The subsets of a contract with these usable hypotheses; fewer where there are no more."""
        # Only random() is promised to give the same numbers in every version of Python.
        random = Random(f"{self.seed} {document}").random
        keys = sorted(keys)
        left = {size: n for size in _SIZES if (n := comb(len(keys), size))}
        found: dict[frozenset[str], Subset] = {}
        while left and len(found) < self.per_contract:
            size = list(left)[int(random() * len(left))]
            drawn = tuple(sorted(keys, key=lambda _: random())[:size])
            if frozenset(drawn) not in found:
                found[frozenset(drawn)] = Subset(str(len(found) + 1), drawn)
                left[size] -= 1
                if not left[size]:
                    del left[size]
        return list(found.values())


class NamedPolicy(BaseModel):
    """Hypotheses, by key or by text, that a user wants as one case of every contract.

    The aggregation is `all` whatever the rule text says.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Name
    hypotheses: Annotated[tuple[Text, ...], Field(min_length=1)]
    rule: Text = RULE
    query: Text = QUERY


_POLICIES = TypeAdapter(Annotated[tuple[NamedPolicy, ...], Field(min_length=1)])


@dataclass(frozen=True, slots=True)
class NamedPolicies:
    """The policies of a user's file; `document` tells where each of them stands."""

    policies: tuple[NamedPolicy, ...]
    file: str = "policies"
    document: Document = field(default_factory=lambda: Document([], {}))

    @staticmethod
    def read(path: str | Path) -> NamedPolicies:
        """The list of policies in a YAML or JSON file."""
        path = Path(path)
        kind = path.suffix.lower()
        if kind not in (".yaml", ".yml", ".json"):
            raise failed(path, "the format is told by the ending; use .yaml, .yml or .json")
        try:
            text = decode(path.read_bytes())
            if kind == ".json":
                documents = [json_document(text, parse_json(text))]
            else:
                documents = list(parse_yaml(text))
        except OSError as error:
            what = f"the policy file cannot be read: {error.strerror}"
            raise failed(path, what) from None
        except FormatError as error:
            raise failed(path, error.what, error.line) from None
        if len(documents) != 1:
            example = "- {name: copies, hypotheses: [nda-16, nda-17]}"
            raise failed(path, f"must hold one list of policies, such as `{example}`")
        document = documents[0]
        fields: dict[Location, tuple[str, ...]] = {("*",): tuple(NamedPolicy.model_fields)}
        try:
            found = NamedPolicies(_POLICIES.validate_python(document.data), str(path), document)
        except ValidationError as error:
            wrong = field_problems(error.errors(include_url=False), fields)
            raise InputProblems(located(str(path), document, wrong)) from None
        names = [policy.name for policy in found.policies]
        twice = [i for i, name in enumerate(names) if name in names[:i]]
        if twice:
            what = "another policy has this name; give each its own"
            wrong: list[tuple[Location, str]] = [((i, "name"), what) for i in twice]
            raise InputProblems(located(str(path), document, wrong))
        return found

    def resolve(self, hypotheses: Mapping[str, str], source: str) -> list[Subset]:
        """The subsets that the policies name among the hypotheses of a source file."""
        keys = {key: key for key in hypotheses}
        keys |= {plain(text): key for key, text in hypotheses.items()}
        subsets: list[Subset] = []
        wrong: list[tuple[Location, str]] = []
        for p, policy in enumerate(self.policies):
            chosen: list[str] = []
            for h, asked in enumerate(policy.hypotheses):
                key = keys.get(asked) or keys.get(plain(asked))
                if key is None:
                    guess = did_you_mean(asked, [*hypotheses, *hypotheses.values()])
                    what = (
                        f'{source} has no hypothesis "{asked[:100]}"{guess}; '
                        f"give its text or one of {', '.join(sorted(hypotheses))}"
                    )
                    wrong.append(((p, "hypotheses", h), what))
                elif key in chosen:
                    what = f"{key} is listed twice; name each hypothesis once"
                    wrong.append(((p, "hypotheses", h), what))
                else:
                    chosen.append(key)
            subsets.append(Subset(policy.name, tuple(chosen), policy.rule, policy.query))
        if wrong:
            raise InputProblems(located(self.file, self.document, wrong))
        return subsets


Policy = RandomSubsets | NamedPolicies
"""Which hypotheses of a contract make up its cases."""


def plain(text: str) -> str:
    """The text without regard to case and spacing."""
    return " ".join(text.split()).casefold()
