"""The verifier that users hold: a folder of weights and settings, behind one question."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from interpact.case.case import Case
from interpact.case.states import State
from interpact.errors import InterPactError
from interpact.judging import direct, intervene, propagate
from interpact.judging.engines.protocol import Engine
from interpact.judging.judgment import AUTO, DIRECT, EXACT, INTERVENE, PROPAGATE, Judgment
from interpact.judging.predicted import from_direct, from_intervene, from_propagate
from interpact.judging.settings import JUDGE, JudgeSettings, StatePrompt
from interpact.judging.view import View

if TYPE_CHECKING:
    from interpact.verifier.backbone import Backbone

RUN, SYSTEM, ADAPTER = "verifier.json", "system.json", "adapter_config.json"
TOGETHER = 32  # cases whose questions are asked together


def shipped_folder() -> Path:
    """The verifier that $INTERPACT_VERIFIER names, else the one that comes with the package."""
    import interpact.verifier

    named = os.environ.get("INTERPACT_VERIFIER")
    if named:
        return Path(named)
    return Path(interpact.verifier.__file__).with_name("shipped")


@dataclass(frozen=True)
class Verifier:
    """Judges cases without given states, by an engine and by what was fitted for it."""

    engine: Engine
    settings: JudgeSettings
    name: str = "verifier"

    @staticmethod
    def load(path: str | Path | None = None, device: str = "auto", dtype: str = "auto") -> Verifier:
        """The verifier of a folder, of a finished training run or of a hub id; by default the shipped one.

        The weights are read when the first case is judged.
        """
        folder, settings = located(path)
        return Verifier(local_engine(folder, settings, device, dtype), settings, folder.name)

    @staticmethod
    def base(backbone: str = "smollm2") -> Verifier:
        """A backbone as it is, with no adapter."""
        settings = JudgeSettings(backbone=backbone, estimator=None, paired=None)
        return Verifier(local_engine(Path(), settings), settings, backbone)

    def ready(self) -> None:
        """Load the weights now rather than with the first case; an error if they cannot be had."""
        getattr(self.engine, "estimator", None)

    def read(self, cases: Sequence[Case]) -> list[propagate.Reading]:
        """What states the engine predicts, corrected as calibration taught."""
        found: list[propagate.Reading] = []
        for at in range(0, len(cases), TOGETHER):
            some = propagate.read(cases[at : at + TOGETHER], self.engine, removals=False)
            found += [reading.scaled(self.settings.states) for reading in some]
        return found

    def judge(
        self,
        case: Case | str | Path,
        states: Mapping[str, State | str] | None = None,
        mode: str = AUTO,
        risk: float | None = None,
    ) -> list[Judgment]:
        """Judge every evidence unit of a case; labels of the case are not looked at.

        `states` are taken as known. With `risk` it abstains where it cannot keep to it.
        """
        if not isinstance(case, Case):
            case = Case.load(case)
        (view,) = self.views([case], states, mode, risk)
        return list(view.judgments)

    def views(
        self,
        cases: Iterable[Case],
        states: Mapping[str, State | str] | None = None,
        mode: str = AUTO,
        risk: float | None = None,
    ) -> Iterator[View]:
        """Judge cases, a few together; in order, one by one."""
        mode = self.settings.mode if mode == AUTO else mode
        fitted = self.settings.of(mode)
        if risk is not None and not 0 < risk < 1:
            raise InterPactError(f"a risk of {risk:g} is no share; use one between 0 and 1")
        if risk is not None and not fitted.conformal.critical:
            raise InterPactError(
                f"a risk needs scores of labelled units, which {self.name} lacks for mode {mode}; "
                "fit them with `interpact calibrate`"
            )
        stream = iter(cases)
        while some := list(islice(stream, TOGETHER)):
            yield from self._judged(some, states, mode, risk)

    def _judged(
        self,
        cases: list[Case],
        states: Mapping[str, State | str] | None,
        mode: str,
        risk: float | None,
    ) -> Iterator[View]:
        from interpact.judging.judge import checked_states

        fitted = self.settings.of(mode)
        known = [checked_states(case, states) for case in cases]
        if mode == DIRECT:
            for case, answers in zip(cases, direct.ask(cases, self.engine), strict=True):
                yield from_direct(case, answers, fitted, risk)
            return
        raw = propagate.read(cases, self.engine, removals=mode == PROPAGATE)
        readings = [
            reading.scaled(self.settings.states, some)
            for reading, some in zip(raw, known, strict=True)
        ]
        if mode == PROPAGATE:
            for reading in readings:
                yield from_propagate(reading, self.settings.reach, fitted, risk)
        elif mode == INTERVENE:
            tries = intervene.intervene(readings, self.engine)
            for reading, some in zip(readings, tries, strict=True):
                yield from_intervene(reading, some, fitted, risk)
        else:
            raise InterPactError(
                f'a verifier has no mode "{mode}"; use {PROPAGATE}, {INTERVENE}, {DIRECT} or {AUTO}'
                + (f" ({EXACT} needs no verifier)" if mode == EXACT else "")
            )


@lru_cache(maxsize=1)
def shipped() -> Verifier:
    """The shipped verifier, loaded once."""
    return Verifier.load()


def located(path: str | Path | None) -> tuple[Path, JudgeSettings]:
    """The folder of a verifier and its settings; a run or a bare adapter has uncalibrated ones."""
    folder = shipped_folder() if path is None else _folder(path)
    if (folder / JUDGE).exists():
        return folder, JudgeSettings.read(folder)
    if (folder / RUN).exists():
        from interpact.verifier.run import selected

        run = selected(folder)
        return folder, JudgeSettings(
            backbone=run.backbone,
            state_prompt=StatePrompt.WHOLE,
            estimator=run.estimator,
            paired=run.verifier,
        )
    if (folder / SYSTEM).exists():
        return folder, _of_system(folder)
    if (folder / ADAPTER).exists():
        config = json.loads((folder / ADAPTER).read_text(encoding="utf-8"))
        return folder, JudgeSettings(backbone=str(config.get("base_model_name_or_path", "")))
    if path is None:
        raise InterPactError(
            "this installation comes without a verifier; name one (--verifier FOLDER), or give the "
            "states of the conditions for mode exact"
        )
    raise InterPactError(
        f"{folder}: holds no verifier ({JUDGE}), training run ({RUN}) or adapter ({ADAPTER}); name a "
        "folder that `interpact calibrate` or `interpact train` wrote"
    )


def _of_system(run: Path) -> JudgeSettings:
    """The settings of a finished run of own-evidence judging; other systems tell no states by it."""
    from interpact.settings import read_settings
    from interpact.systems.config import Kind, SystemConfig
    from interpact.systems.learn import chosen
    from interpact.verifier.run import CONFIG

    config, found = read_settings(run / CONFIG, SystemConfig), chosen(run)
    if config.system is not Kind.OWN_EVIDENCE:
        raise InterPactError(
            f"{run}: is a run of {config.system}, which is evaluated by `interpact evaluate` and judges "
            f"no cases; use one of {Kind.INTERPACT} or {Kind.OWN_EVIDENCE}"
        )
    return JudgeSettings(
        backbone=config.backbone, estimator=found.checkpoint, paired=found.checkpoint
    )


def local_engine(
    folder: Path, settings: JudgeSettings, device: str = "auto", dtype: str = "auto"
) -> Engine:
    """An engine on this machine for the adapters that settings name."""
    from importlib.util import find_spec

    missing = [name for name in ("torch", "transformers", "peft") if find_spec(name) is None]
    if missing:
        raise InterPactError(
            f"a verifier needs {', '.join(missing)}; install them: pip install 'interpact[train]'"
        )
    from interpact.judging.engines.local import LocalEngine

    def load(adapter: str | None) -> Backbone:
        from interpact.verifier.backbone import load_backbone
        from interpact.verifier.fetch import SMOLLM2, fetch_smollm2

        if settings.backbone == SMOLLM2:
            fetch_smollm2()  # the first time only, with a progress bar and a look at the hash
        where = None if adapter is None else folder / adapter
        return load_backbone(settings.backbone, adapter=where, dtype=dtype, device=device)

    return LocalEngine(
        lambda: load(settings.estimator),
        None if settings.paired == settings.estimator else lambda: load(settings.paired),
        settings.state_prompt,
    )


def _folder(path: str | Path) -> Path:
    folder = Path(path)
    if folder.is_dir():
        return folder
    if str(path).count("/") == 1 and not folder.is_absolute():
        try:
            from huggingface_hub import snapshot_download

            return Path(snapshot_download(str(path)))
        except Exception as error:
            told = str(error).strip().partition("\n")[0][:200]
            raise InterPactError(
                f"{path}: is no folder here and cannot be fetched from a hub ({told})"
            ) from None
    raise InterPactError(f"{path}: there is no such folder; name a verifier's one")
