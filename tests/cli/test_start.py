"""What starting InterPact must not cost."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = {"torch", "transformers", "pandas", "numpy", "pyarrow", "sklearn", "matplotlib", "jinja2"}
HEAVY |= {"fastapi", "uvicorn", "argon2"}


def loaded_by(code: str) -> set[str]:
    command = [sys.executable, "-c", f"import sys\n{code}\nprint(*sys.modules, file=sys.stderr)"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return {name.split(".")[0] for name in done.stderr.split()}


def test_importing_interpact_loads_next_to_nothing():
    assert not loaded_by("import interpact") & (HEAVY | {"pydantic", "typer", "rich", "yaml"})


@pytest.mark.parametrize("arguments", ["--help", "judge --help"])
def test_help_loads_no_heavy_library(arguments):
    code = (
        f"sys.argv = ['interpact', *{arguments.split()!r}]\n"
        "from interpact.cli import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass"
    )
    assert not loaded_by(code) & HEAVY


def test_judging_a_yaml_case_loads_no_heavy_library(examples: Path):
    code = f"from interpact import judge\nassert judge({str(examples / 'nda.yaml')!r})"
    assert not loaded_by(code) & HEAVY


def test_every_exported_name_exists():
    import interpact

    for name in interpact.__all__:
        assert getattr(interpact, name) is not None
    assert set(interpact.__all__) == set(interpact._HOMES)
    assert set(interpact.__all__) <= set(dir(interpact))  # what a console completes
    with pytest.raises(AttributeError):
        interpact.nothing  # noqa: B018


def test_the_version_is_told():
    import interpact

    done = subprocess.run(
        [sys.executable, "-m", "interpact", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"interpact {interpact.__version__}\n"
