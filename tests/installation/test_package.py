"""The package works from a wheel, outside the checkout, and from a bare checkout."""

import re
import shutil
import subprocess
import sys
import zipfile
from importlib.metadata import Distribution

import pytest
import yaml
from commands import REPOSITORY
from nonempty import some
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

import syntax_nmt

pytestmark = [pytest.mark.dear, pytest.mark.filterwarnings("ignore")]

TOP = (
    *("setup.py", "pyproject.toml", "MANIFEST.in", "constraints.txt"),
    *("README.md", "CHANGELOG.md", "LICENSE", "CITATION.cff"),
)


@pytest.fixture(scope="module")
def sdist(tmp_path_factory):
    """The unpacked source distribution."""
    folder = tmp_path_factory.mktemp("sdist")
    sources = folder / "sources"  # a copy: building leaves files in its folder
    for part in ("syntax_nmt", "preprocess", "examples", "tests"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(REPOSITORY / part, sources / part, ignore=ignored)
    for part in TOP:
        shutil.copy(REPOSITORY / part, sources)
    command = [sys.executable, "setup.py", "--quiet", "sdist", "--dist-dir", str(folder)]
    subprocess.run(command, check=True, capture_output=True, cwd=sources)
    (archive,) = folder.glob("*.tar.gz")
    shutil.unpack_archive(archive, folder / "unpacked", filter="data")
    (unpacked,) = (folder / "unpacked").iterdir()
    return unpacked


@pytest.fixture(scope="module")
def installed(sdist, tmp_path_factory):
    """A folder with the unpacked wheel, made from the source distribution; what it needs comes from
    the environment of the tests."""
    folder = tmp_path_factory.mktemp("wheel")
    shutil.copytree(sdist, folder / "sources")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"]
    command += ["--no-build-isolation", "--wheel-dir", folder, folder / "sources"]
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
        "import syntax_nmt.cli, syntax_nmt.commands.prepare as prepare;"
        "syntax_nmt.cli.main(['user-dir']); print(prepare.__file__)"
    )
    user_dir, prepare = python(code, installed, tmp_path).splitlines()
    assert user_dir == str(installed / "syntax_nmt")
    assert prepare == str(installed / "syntax_nmt" / "commands" / "prepare.py")


def test_wheel_holds_every_module_and_recipe_and_nothing_else(installed):
    def modules(folder):
        return {path.relative_to(folder).as_posix() for path in folder.rglob("*.py")}

    expected = {f"syntax_nmt/{name}" for name in modules(REPOSITORY / "syntax_nmt")}
    expected |= {f"syntax_nmt/examples/{name}" for name in modules(REPOSITORY / "examples")}
    assert modules(installed) == expected
    recipes = {path.name for path in (REPOSITORY / "preprocess").glob("*.sh")}
    inside = {path.name for path in (installed / "syntax_nmt" / "preprocess").iterdir()}
    assert inside == recipes != set()
    assert (installed / "syntax_nmt" / "py.typed").is_file()


def test_type_checkers_know_what_a_loaded_model_gives(tmp_path):
    """One result for one sentence, a list for a list, None where a sentence may be too long."""
    (tmp_path / "user.py").write_text(
        "from syntax_nmt import load\n"
        "model = load('model.pt', 'prepared')\n"
        "model.translate('a').upper(), model.translate(['a'])[0].upper()\n"
        "model.nbest('a')[0].score, model.nbest(['a'])[0][0].score\n"
        "model.trees('a', as_text=True).upper()\n"
        "model.align('a', 'b').links\n"
    )
    options = ("--ignore-missing-imports", "--follow-imports=silent", "--cache-dir=cache")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *options, "user.py"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={"MYPYPATH": str(REPOSITORY), "PATH": "/usr/bin:/bin"},
    )
    found = [line for line in done.stdout.splitlines() if "error:" in line]
    assert found == [
        'user.py:6: error: Item "None" of "AlignedPair | None" has no attribute "links"  '
        "[union-attr]"
    ]


def test_wheel_writes_a_report(installed, tmp_path):
    (tmp_path / "text").write_text("one sentence\n", encoding="utf-8")
    code = "import syntax_nmt.cli; syntax_nmt.cli.main(['report', 'text', '-r', 'text'])"
    python(code, installed, tmp_path)
    assert "one sentence" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_plugin_needs_nothing_of_the_preparation(tmp_path):
    """`--user-dir syntax_nmt` of a bare checkout: the folder alone, without preprocess."""
    (tmp_path / "syntax_nmt").symlink_to(REPOSITORY / "syntax_nmt")
    code = (
        "import sys, syntax_nmt.plugin; "
        "print([m for m in sys.modules if m.startswith('syntax_nmt.preparation')])"
    )
    assert python(code, tmp_path, tmp_path).strip() == "[]"


def test_source_distribution_is_complete(sdist):
    def files(folder):
        found = (path for path in folder.rglob("*") if path.is_file())
        return {
            path.relative_to(folder).as_posix()
            for path in found
            if "__pycache__" not in path.parts and "egg-info" not in path.as_posix()
        }

    for part in ("syntax_nmt", "preprocess", "examples", "tests"):
        assert files(REPOSITORY / part) <= files(sdist / part)
    assert set(TOP) <= files(sdist)


def test_wheel_gives_the_examples_to_who_has_no_checkout(installed, tmp_path):
    code = "import syntax_nmt.cli; syntax_nmt.cli.main(['examples', 'mine'])"
    python(code, installed, tmp_path)

    def files(folder, *endings):
        return {
            path.relative_to(folder).as_posix()
            for ending in endings
            for path in folder.rglob(f"*.{ending}")
        }

    endings = ("sh", "yaml", "md", "ipynb", "py")
    copied = files(tmp_path / "mine" / "examples", *endings)
    assert "phrase/train.sh" in copied
    assert (tmp_path / "mine" / "examples" / "experiments" / "Snakefile").is_file()
    assert copied == files(REPOSITORY / "examples", *endings)
    code += "\n"
    with pytest.raises(AssertionError, match="is there already: give another FOLDER"):
        python(code, installed, tmp_path)


def metadata(installed):
    (folder,) = installed.glob("*.dist-info")
    return Distribution.at(folder).metadata


def test_versions_agree(installed):
    changelog = (REPOSITORY / "CHANGELOG.md").read_text(encoding="utf-8")
    versions = dict(re.findall(r"^## (\d+\.\d+\.\d+) – (\d{4}-\d\d-\d\d)$", changelog, re.M))
    headings = re.findall(r"^## (\d.*)$", changelog, re.M)
    dated = headings[1:] if headings[0].endswith(" – unreleased") else headings
    assert [heading.split(" – ")[0] for heading in dated] == list(versions)
    citation = yaml.safe_load((REPOSITORY / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == syntax_nmt.__version__
    assert str(citation["date-released"]) == versions[syntax_nmt.__version__]
    assert metadata(installed)["Version"] == syntax_nmt.__version__


def test_pythons_and_requirements_agree(installed):
    """setup.py, its classifiers, the pages, the scripts and the matrix say the same."""
    said = metadata(installed)
    pythons = [
        name.rsplit(" ", 1)[1]
        for name in said.get_all("Classifier")
        if re.fullmatch(r"Programming Language :: Python :: 3\.\d+", name)
    ]
    first, last = pythons[0], pythons[-1]
    specifier = SpecifierSet(said["Requires-Python"])
    assert [f"3.{minor}" for minor in range(5, 30) if f"3.{minor}.1" in specifier] == pythons
    page = (REPOSITORY / "docs/compatibility.md").read_text(encoding="utf-8")
    readme = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    assert f"Python {first} to {last}" in page
    assert f"Python {first} to {last}" in readme
    found = re.search(
        r"\((\d), (\d+)\) <= sys\.version_info\[:2\] <= \((\d), (\d+)\)",
        (REPOSITORY / "examples" / "environment.sh").read_text(encoding="utf-8"),
    )
    assert found is not None
    assert [f"{found[1]}.{found[2]}", f"{found[3]}.{found[4]}"] == [first, last]
    matrix = (REPOSITORY / "tests" / "matrix.sh").read_text(encoding="utf-8")
    rows = re.search(r"^rows=\((.*)\)$", matrix, re.MULTILINE)
    assert rows is not None
    assert [row.partition("-")[0] for row in rows[1].split()] == pythons
    needed = [Requirement(text) for text in said.get_all("Requires-Dist")]
    for requirement in needed:
        if requirement.marker is None:
            assert requirement.name.lower() in page.lower(), requirement.name
            assert any(part.operator == ">=" for part in requirement.specifier), requirement
    torch = next(requirement for requirement in needed if requirement.name == "torch")
    assert f"torch {str(torch.specifier).replace('>=', '≥ ')}" in page


def test_constraints_satisfy_the_requirements(installed):
    lines = (REPOSITORY / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pinned = dict(line.lower().split("==") for line in lines if "==" in line)
    for text in some(metadata(installed).get_all("Requires-Dist")):
        requirement = Requirement(text)
        version = pinned[requirement.name.lower()]
        assert requirement.specifier.contains(version, prereleases=True), text
