"""How long starting takes: `import interpact` and `interpact --help`, beside bare Python.

python benchmarks/start.py
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

COMMANDS = {
    "python, nothing else": [sys.executable, "-c", "pass"],
    "import pydantic, typer, rich, yaml, pyarrow, jinja2 at once": [
        sys.executable, "-c", "import pydantic, typer, rich.console, yaml, pyarrow, jinja2",
    ],
    "import interpact": [sys.executable, "-c", "import interpact"],
    "interpact --help": [sys.executable, "-m", "interpact", "--help"],
    "interpact judge examples/nda.yaml": [
        sys.executable, "-m", "interpact", "judge", "examples/nda.yaml",
    ],
}  # fmt: skip
RUNS = 15


def main() -> None:
    times: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for _ in range(RUNS):  # in turn, so that a busy moment hits all alike
        for name, command in COMMANDS.items():
            started = time.perf_counter()
            subprocess.run(command, check=True, capture_output=True)
            times[name].append(time.perf_counter() - started)
    medians = {name: statistics.median(values) for name, values in times.items()}
    base = medians["python, nothing else"]
    for name, median in medians.items():
        print(f"{median:6.3f} s  ({median / base:4.1f} x bare Python)  {name}")
    for name in ("import interpact", "interpact --help"):
        assert medians[name] < 0.3, f"{name} takes {medians[name]:.2f} s, 0.3 s is the limit"


if __name__ == "__main__":
    main()
