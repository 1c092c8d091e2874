"""The settings of a system; those of the verifier, and what only single systems have."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from interpact.case.states import Decision
from interpact.construct.endpoint import OPENAI
from interpact.settings import read_settings
from interpact.systems.predictions import System
from interpact.verifier.config import StageSettings, TrainConfig


class Kind(StrEnum):
    """What can be trained or asked; InterPact comes in variants."""

    PROMPTED = "prompted"
    AFTER_STATE = "after_state"
    EXECUTION = "execution"
    PAIRCFR = "paircfr"
    GENRM = "genrm"
    R2GUARD = "r2guard"
    INTERPACT = "interpact"
    OWN_EVIDENCE = "own_evidence"  # beyond the paper


class _Settings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class PairCfrSettings(_Settings):
    """The contrastive part of PairCFR; the defaults are its authors' for language inference."""

    contrast: Annotated[float, Field(ge=0, le=1)] = 0.7  # lambda: the rest is for classification
    temperature: Annotated[float, Field(gt=0)] = 0.9  # tau
    roots: Annotated[int, Field(ge=1)] = 2  # whole roots in a batch, each with all its edits
    neutral_label: Decision | Literal["none"] = "none"  # a decision that is nobody's negative


class GenRmSettings(_Settings):
    """How GenRM's two tasks are weighed against each other."""

    generation: Annotated[float, Field(ge=0, le=1)] = 0.25  # the rest is for verification


class OwnEvidenceSettings(_Settings):
    """What the verifier for everyday use learns besides the pairs of the corpus."""

    also: tuple[Path, ...] = ()  # further corpora; of these too only training pairs are learned
    direct: Annotated[float, Field(ge=0)] = 0.25  # weight of the direct question; a state has 1


class PromptedSettings(_Settings):
    """How a model that is not trained is asked."""

    reasoning_tokens: Annotated[int, Field(ge=0)] = 0  # written before the outcome is scored
    temperature: Annotated[float, Field(ge=0)] = 0.0  # of the reasoning; 0 is greedy


class EndpointSettings(_Settings):
    """A prompted model behind an OpenAI-compatible endpoint."""

    model: str
    base_url: str = OPENAI
    key_variable: str = "OPENAI_API_KEY"
    parameters: dict[str, Any] = Field(default_factory=lambda: {"temperature": 0})
    slots: Annotated[int, Field(ge=1)] = 16
    timeout: Annotated[float, Field(gt=0)] = 120.0
    patience: Annotated[float, Field(gt=0)] = 300.0


class SystemConfig(TrainConfig):
    """A system and how it is trained; all systems share backbone, adapters and exposure."""

    system: Kind = Kind.INTERPACT
    baseline: StageSettings = StageSettings()  # the one stage of execution, PairCFR and GenRM
    paircfr: PairCfrSettings = PairCfrSettings()
    genrm: GenRmSettings = GenRmSettings()
    own_evidence: OwnEvidenceSettings = OwnEvidenceSettings()
    prompted: PromptedSettings = PromptedSettings()
    # EndpointSettings of a prompted model that is served; empty for the backbone on this machine.
    endpoint: dict[str, Any] = Field(default_factory=dict[str, Any])

    @model_validator(mode="after")
    def _endpoint_fits(self) -> SystemConfig:
        _ = self.served
        return self

    @staticmethod
    def read(path: Path) -> SystemConfig:
        """The settings of a YAML file; unknown ones are errors."""
        return read_settings(path, SystemConfig)

    @property
    def served(self) -> EndpointSettings | None:
        """The endpoint, if there is one."""
        return EndpointSettings.model_validate(self.endpoint) if self.endpoint else None

    @property
    def model(self) -> str:
        """The model that answers."""
        return self.backbone if self.served is None else self.served.model

    @property
    def key(self) -> System:
        """The system by the name that predictions carry."""
        return System(self.variant if self.system is Kind.INTERPACT else self.system)

    @property
    def title(self) -> str:
        """The system's name in tables."""
        return self.key.named(self.model)

    def of(self, key: System) -> SystemConfig:
        """The same settings for another system."""
        named = {str(kind) for kind in Kind} - {Kind.INTERPACT}
        changes = {"system": key} if key in named else {"system": "interpact", "variant": key}
        return SystemConfig.model_validate(self.model_dump() | changes)

    @property
    def stated(self) -> dict[str, Any]:
        """The settings that bear on this system, for tables."""
        own = {
            Kind.PROMPTED: ("prompted",),
            Kind.AFTER_STATE: ("lora", "after_state"),
            Kind.EXECUTION: ("lora", "baseline"),
            Kind.PAIRCFR: ("lora", "baseline", "paircfr"),
            Kind.GENRM: ("lora", "baseline", "genrm"),
            Kind.R2GUARD: ("lora", "after_state"),
            Kind.INTERPACT: ("lora", "after_state", "propagation", "losses"),
            Kind.OWN_EVIDENCE: ("lora", "baseline", "own_evidence"),
        }[self.system]
        return self.model_dump(mode="json", include={"dtype", "seed", "pack_tokens", *own})

    @property
    def verifier(self) -> TrainConfig:
        """The settings of the verifier alone."""
        return TrainConfig.model_validate(
            {name: getattr(self, name) for name in TrainConfig.model_fields}
        )
