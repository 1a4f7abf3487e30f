"""The package works from a wheel, outside the checkout, and from a bare checkout."""

import shutil
import subprocess
import sys
import zipfile

import pytest
from commands import REPOSITORY

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A folder with the unpacked wheel; what it needs comes from the environment of the tests."""
    folder = tmp_path_factory.mktemp("wheel")
    sources = folder / "sources"  # a copy: building leaves files in its folder
    for part in ("syntax_nmt", "preprocess"):
        shutil.copytree(REPOSITORY / part, sources / part)
    for part in ("setup.py", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(REPOSITORY / part, sources)
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"]
    command += ["--no-build-isolation", "--wheel-dir", folder, sources]
    subprocess.run(command, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    site = folder / "site"
    zipfile.ZipFile(wheel).extractall(site)
    return site


def python(code, site, cwd):
    """Runs code with the unpacked wheel before the checkout that the environment knows."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=cwd,
        env={"PYTHONPATH": str(site), "PATH": "/usr/bin:/bin", "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_wheel_outside_the_checkout(installed, tmp_path):
    code = (
        "import syntax_nmt.cli, syntax_nmt.preprocess.prepare as prepare;"
        "syntax_nmt.cli.main(['user-dir']); print(prepare.__file__)"
    )
    user_dir, prepare = python(code, installed, tmp_path).splitlines()
    assert user_dir == str(installed / "syntax_nmt")
    assert prepare == str(installed / "syntax_nmt" / "preprocess" / "prepare.py")


def test_wheel_holds_every_module_and_nothing_else(installed):
    def modules(folder):
        return {path.relative_to(folder).as_posix() for path in folder.rglob("*.py")}

    expected = {f"syntax_nmt/{name}" for name in modules(REPOSITORY / "syntax_nmt")}
    expected |= {f"syntax_nmt/preprocess/{name}" for name in modules(REPOSITORY / "preprocess")}
    assert modules(installed) == expected


def test_wheel_writes_a_report(installed, tmp_path):
    (tmp_path / "text").write_text("one sentence\n", encoding="utf-8")
    code = "import syntax_nmt.cli; syntax_nmt.cli.main(['report', 'text', '-r', 'text'])"
    python(code, installed, tmp_path)
    assert "one sentence" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_plugin_needs_no_preprocess(tmp_path):
    """`--user-dir syntax_nmt` of a bare checkout: the folder alone, without preprocess."""
    (tmp_path / "syntax_nmt").symlink_to(REPOSITORY / "syntax_nmt")
    code = (
        "import sys, syntax_nmt; print([m for m in sys.modules if m.startswith('syntax_nmt.pre')])"
    )
    assert python(code, tmp_path, tmp_path).strip() == "[]"


def test_versions_agree():
    setup = (REPOSITORY / "setup.py").read_text(encoding="utf-8")
    changelog = (REPOSITORY / "CHANGELOG.md").read_text(encoding="utf-8")
    version = setup.split('version="')[1].split('"')[0]
    assert f"## {version}" in changelog
