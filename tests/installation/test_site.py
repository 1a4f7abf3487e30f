"""The site: a strict build without network, of all pages and of every part of the package."""

import re
import shutil
import subprocess
import sys

import pytest
import yaml
from commands import REPOSITORY
from packaging.requirements import Requirement

SITE = REPOSITORY / "site"
FETCHED = re.compile(r"<(?:script|img|iframe|link)\b[^>]*?(?:src|href)=\"?((?:https?:)?//[^\" >]+)")

pytestmark = pytest.mark.dear
for tool in ("material", "mkdocstrings"):
    pytest.importorskip(tool, reason=f"{tool} is not installed: pip install -e '.[docs]'")
if not SITE.is_dir():
    pytest.skip("a source distribution has no site", allow_module_level=True)


def build(configuration, output):
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", output]
    command += ["--config-file", configuration]
    return subprocess.run(command, capture_output=True, text=True, cwd=output.parent)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The built site."""
    folder = tmp_path_factory.mktemp("site") / "built"
    done = build(SITE / "mkdocs.yml", folder)
    assert done.returncode == 0, done.stderr
    return folder


def test_pages_pictures_reference_and_search_are_there(site):
    home = (site / "index.html").read_text("utf-8")
    assert 'src="docs/translation.svg"' in home
    assert (site / "docs" / "translation.svg").is_file()
    assert 'href="examples/dependency/#both-sides"' in home
    python = (site / "reference" / "syntax_nmt" / "index.html").read_text("utf-8")
    assert 'id="syntax_nmt.load"' in python
    index = (site / "search" / "search_index.json").read_text("utf-8")
    assert "reference/scoring/#syntax_nmt.scoring.TestSet" in index
    assert "docs/training/#which-options-go-together" in index


def test_roles_of_docstrings_are_links(site):
    for page in site.glob("reference/*/index.html"):
        assert not re.search(r":(?:attr|class|data|func|meth|mod):<code>", page.read_text("utf-8"))
    page = (site / "reference" / "methods" / "index.html").read_text("utf-8")
    target = "../backbone/#syntax_nmt.backbone.attention_modifier.AttentionModifier"
    assert re.search(rf'href="{target}"[^>]*><code>AttentionModifier</code>', page)


def test_nothing_is_fetched_from_elsewhere(site):
    pages = list(site.rglob("*.html"))
    assert len(pages) > 50
    assert {found for page in pages for found in FETCHED.findall(page.read_text("utf-8"))} == set()


def test_every_part_of_the_package_has_a_page_of_the_reference(site):
    parts = {path.parent.name for path in REPOSITORY.glob("syntax_nmt/*/__init__.py")}
    parts |= {path.stem for path in REPOSITORY.glob("syntax_nmt/*.py")} - {"__init__"}
    pages = {path.parent.name: path for path in site.glob("reference/*/index.html")}
    assert pages.keys() == parts | {"syntax_nmt"}
    for name, page in pages.items():
        assert f"syntax_nmt.{name}".removesuffix(".syntax_nmt") in page.read_text("utf-8")
    home = (site / "index.html").read_text("utf-8")
    assert [name for name in pages if f'href="reference/{name}/"' not in home] == []


def test_every_page_of_ours_is_in_the_navigation():
    named = (SITE / "mkdocs.yml").read_text("utf-8")
    pages = [*REPOSITORY.glob("docs/*.md"), *REPOSITORY.glob("examples/*/README.md")]
    assert len(pages) > 20
    assert [page for page in pages if f"- {page.relative_to(REPOSITORY)}\n" not in named] == []


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[a page](missing.md)", "'missing.md', but the target is not found"),
        ("[a folder](folder)", "unrecognized relative link 'folder'"),
        ("[a heading](#missing)", "there is no such anchor"),
        ("[`Missing`][syntax_nmt.Missing]", "cross-reference target 'syntax_nmt.Missing'"),
        ("::: syntax_nmt.missing", "syntax_nmt.missing could not be found"),
    ],
)
def test_what_leads_nowhere_stops_the_build(tmp_path, text, complaint):
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "index.md").write_text(f"# Page\n\n{text}\n", "utf-8")
    shutil.copy(SITE / "reference.py", tmp_path)
    configuration = tmp_path / "mkdocs.yml"
    configuration.write_text(
        (SITE / "mkdocs.yml").read_text("utf-8").partition("\nnav:")[0] + "\nnav: [index.md]\n"
    )
    done = build(configuration, tmp_path / "built")
    assert done.returncode == 1
    assert complaint in done.stderr


def test_workflows_name_scripts_and_packages_that_are_there():
    workflows = {
        path.stem: yaml.safe_load(path.read_text("utf-8"))
        for path in (REPOSITORY / ".github" / "workflows").glob("*.yml")
    }
    jobs = [job for each in workflows.values() for job in each["jobs"].values()]
    commands = [step["run"] for job in jobs for step in job["steps"] if "run" in step]
    for script in re.findall(r"bash (\S+)", "\n".join(commands)):
        assert (REPOSITORY / script).is_file()
    (install,) = [command for command in commands if command.startswith("pip install")]
    (extra,) = re.findall(r'"docs": \[(.*)\]', (REPOSITORY / "setup.py").read_text("utf-8"))
    needed = {Requirement(text).name for text in re.findall(r'"([^"]+)"', extra)}
    assert set(install.split()[4:]) == needed
    classifiers = re.findall(r"Python :: (3\.\d+)", (REPOSITORY / "setup.py").read_text("utf-8"))
    assert workflows["tests"]["jobs"]["gate"]["strategy"]["matrix"]["python"] == classifiers
