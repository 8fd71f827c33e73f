"""Builds the environments and lets every agent run: `python -m frameworks.record [NAME…]`.

1. One virtual environment a framework under the cache (`.frameworks/`, or `TRACKWAY_FRAMEWORKS`),
   made anew when what it installs changes. Trackway comes from the working tree.
2. Each run is a process of its own with a model endpoint of its own. It leaves Parquet files, its
   output and its exit status under `runs/<framework>/<variant>/`.
3. Two runs at a time. A run that fails is left for the tests to judge.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from frameworks.catalogue import ENVIRONMENTS, FRAMEWORKS, Environment, Framework
from frameworks.endpoint import install, serving
from frameworks.script import SCENARIOS, fixtures

ROOT: Final = Path(__file__).resolve().parents[2]
CACHE: Final = Path(os.environ.get("TRACKWAY_FRAMEWORKS", ROOT / ".frameworks"))
AGENTS: Final = Path(__file__).with_name("agents")
TIMEOUT: Final = 120
VARIABLES: Final = {
    "GOOGLE_API_KEY": "k",
    "GOOGLE_GENAI_USE_VERTEXAI": "FALSE",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "PYTHONWARNINGS": "ignore",
}
"""What keeps the frameworks from the network, and quiet."""


@dataclass(frozen=True, slots=True)
class Variant:
    """One way to play: a scenario, streamed or not, recorded in one of the modes."""

    name: str
    scenario: str
    mode: str = "auto"
    stream: bool = False
    in_a_run: bool = True
    """Whether `with trackway.run(...)` says where the run begins."""
    phases: tuple[str, ...] = ("",)
    """The processes of one run; an approval takes two."""
    of_all: bool = True
    """Whether every framework plays it, or those only that say so."""


VARIANTS: Final = {
    variant.name: variant
    for variant in (
        Variant("happy", "happy"),
        Variant("fail", "fail"),
        Variant("parallel", "parallel"),
        Variant("streaming", "happy", stream=True),
        Variant("streaming-parallel", "parallel", stream=True),
        Variant("retry", "retry"),
        Variant("decorated", "happy", mode="decorated"),
        Variant("two-lines", "happy", in_a_run=False),
        Variant("zero-code", "happy", mode="zero-code", in_a_run=False),
        Variant("reset", "happy", mode="reset", in_a_run=False, of_all=False),
        Variant("cut-off", "happy", mode="cut-off", of_all=False),
        Variant("approval", "approval", phases=("ask", "approve"), of_all=False),
        Variant("refusal", "refusal", phases=("ask", "refuse"), of_all=False),
        Variant("sub-agent", "sub-agent", in_a_run=False, of_all=False),
        Variant("handoff", "handoff", in_a_run=False, of_all=False),
        Variant("transfer", "transfer", in_a_run=False, of_all=False),
        Variant("workflow", "workflow", in_a_run=False, of_all=False),
        Variant("managed", "managed", in_a_run=False, of_all=False),
        Variant("retriever", "retriever", in_a_run=False, of_all=False),
    )
}


def variants_of(framework: Framework) -> Iterator[Variant]:
    """The variants that apply to a framework."""
    for variant in VARIANTS.values():
        if variant.of_all or variant.name in framework.plays:
            yield variant


def python_of(environment: str) -> Path:
    """The interpreter of an environment."""
    return CACHE / "environments" / environment / "bin" / "python"


def runs_of(framework: str, variant: str) -> Path:
    """Where a run leaves what it leaves."""
    return CACHE / "runs" / framework / variant


def build(environment: Environment) -> None:
    """Make the virtual environment, unless it stands and is of the same making."""
    extras = ",".join(sorted({"auto", "parquet", *environment.extras}))
    wanted = [f"-e{ROOT}[{extras}]", *environment.requires]
    made_of = [*wanted, (ROOT / "pyproject.toml").read_text(), sys.version]
    digest = hashlib.sha256("\n".join(made_of).encode()).hexdigest()
    folder = CACHE / "environments" / environment.name
    stamp = folder / "made-of"
    if stamp.exists() and stamp.read_text() == digest:
        return
    shutil.rmtree(folder, ignore_errors=True)
    uv = [sys.executable, "-m", "uv"]
    python = str(python_of(environment.name))
    subprocess.run([*uv, "venv", "-q", "--python", sys.executable, str(folder)], check=True)
    subprocess.run([*uv, "pip", "install", "-q", "--python", python, *wanted], check=True)
    frozen = subprocess.run(
        [*uv, "pip", "list", "--format", "json", "--python", python],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    versions = {package["name"]: package["version"] for package in json.loads(frozen)}
    (folder / "versions.json").write_text(json.dumps(versions, indent=1))
    stamp.write_text(digest)


def run(framework: Framework, variant: Variant, endpoint: Path) -> str:
    """Let one agent play one variant; return a line that says how it went."""
    folder = runs_of(framework.name, variant.name)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    scenario = SCENARIOS[variant.scenario]
    answers = fixtures(
        scenario,
        by_count=framework.by_count or scenario.by_count,
        overloaded=framework.overloaded,
        final_tool=framework.final_tool,
    )
    status, began = 0, time.monotonic()
    for phase in variant.phases:
        with serving(endpoint, answers, folder / f"endpoint{phase}.log") as url:
            status = status or _process(framework, variant, phase, url, folder)
    (folder / "status.json").write_text(json.dumps({"status": status}))
    return f"{framework.name} {variant.name}: exit {status}, {time.monotonic() - began:.1f} s"


def _process(framework: Framework, variant: Variant, phase: str, url: str, folder: Path) -> int:
    environment = {
        **{name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ},
        **VARIABLES,
        **dict(framework.variables),
        "GOOGLE_GEMINI_BASE_URL": url,
        "REFUND_MODE": variant.mode,
        "REFUND_SCENARIO": variant.scenario,
        "REFUND_ORDER": SCENARIOS[variant.scenario].order,
        "REFUND_STREAM": "yes" if variant.stream else "no",
        "REFUND_IN_A_RUN": "yes" if _in_a_run(framework, variant) else "no",
        "REFUND_ENDPOINT": url,
        "REFUND_TRACES": str(folder / "traces"),
        "REFUND_PHASE": phase,
        "REFUND_STATE": str(folder / "state"),
    }
    python = python_of(framework.environment)
    command = [str(python), str(AGENTS / framework.program), *framework.arguments]
    if variant.mode == "zero-code":
        environment |= {
            "OTEL_PYTHON_DISTRO": "trackway",
            "TRACKWAY_RUN": "refund" if framework.own_loop else "",
            "TRACKWAY_EXPORT": str(folder / "traces"),
            "TRACKWAY_SERVICE_NAME": "refund-agent",
        }
        command = [str(python.with_name("opentelemetry-instrument")), *command]
    with (folder / f"output{phase}.log").open("w") as output:
        try:
            done = subprocess.run(
                command,
                env=environment,
                stdout=output,
                stderr=subprocess.STDOUT,
                timeout=TIMEOUT,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return 124
    return done.returncode


def _in_a_run(framework: Framework, variant: Variant) -> bool:
    return variant.in_a_run or (variant.mode == "reset" and framework.own_loop)


def main(arguments: Sequence[str] | None = None) -> None:
    """Build and run what is named, by default everything."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("frameworks", nargs="*", choices=[[], *FRAMEWORKS], default=[])
    parser.add_argument("--variant", action="append", choices=list(VARIANTS))
    parser.add_argument("--at-a-time", type=int, default=2)
    options = parser.parse_args(arguments)
    chosen = [FRAMEWORKS[name] for name in options.frameworks or FRAMEWORKS]
    endpoint = install(CACHE)
    for name in dict.fromkeys(framework.environment for framework in chosen):
        build(ENVIRONMENTS[name])
    jobs = [
        (framework, variant, endpoint)
        for framework in chosen
        for variant in variants_of(framework)
        if not options.variant or variant.name in options.variant
    ]
    with ThreadPoolExecutor(options.at_a_time) as pool:
        for line in pool.map(lambda job: run(*job), jobs):
            print(line, flush=True)


if __name__ == "__main__":
    main()
