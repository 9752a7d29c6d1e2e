"""axe-core, the checker of accessibility, as npm has it: fetched for a test, never kept here."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

PACKAGE = "axe-core@4.10.3"
SERIOUS = ("serious", "critical")
_RUN = """async () => {
    const { violations } = await axe.run(document, { resultTypes: ["violations"] });
    return violations.map(({ id, impact, nodes }) => ({ id, impact,
        nodes: nodes.map((it) => `${it.target.join(" ")}: ${it.failureSummary}`) }));
}"""


def fetch(folder: Path) -> str:
    """The script. Skips the test where npm or the registry is out of reach (CI turns skips red)."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("axe-core comes from npm, and there is no npm on the path")
    command = [npm, "install", "--no-save", "--no-audit", "--no-fund", "--ignore-scripts",
               "--prefer-offline", "--prefix", str(folder), PACKAGE]  # fmt: skip
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    except subprocess.TimeoutExpired:
        pytest.skip(f"npm did not bring {PACKAGE} within a minute")
    if done.returncode:
        pytest.skip(f"npm could not bring {PACKAGE}: {done.stderr.strip()[-300:]}")
    return (folder / "node_modules" / "axe-core" / "axe.min.js").read_text("utf-8")


def findings(page: Any, script: str) -> list[dict[str, Any]]:
    """The findings of axe on a page: rows of id, impact and nodes."""
    if page.evaluate("typeof window.axe") == "undefined":
        page.evaluate(script)
    return list(page.evaluate(_RUN))


def serious(found: list[dict[str, Any]]) -> str:
    """The findings that must not be, in words; "" for none."""
    bad = [it for it in found if it["impact"] in SERIOUS]
    return json.dumps(bad, indent=1) if bad else ""
