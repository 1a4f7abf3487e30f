"""The day on which a comparison was declared."""

import subprocess

import yaml

from experiments.declarations import declared_dates


def commit(folder, day, *pairs):
    table = {"comparisons": [{"system": a, "against": b, **more} for a, b, more in pairs]}
    (folder / "table.yaml").write_text(yaml.safe_dump(table))
    for command in (["add", "table.yaml"], ["commit", "-m", day, "--date", f"{day}T12:00:00"]):
        who = ["-c", "user.name=n", "-c", "user.email=e"]
        subprocess.run(["git", *who, *command], cwd=folder, check=True, capture_output=True)


def test_the_first_version_that_tests_it_counts(tmp_path):
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    a, b, shown = ("a", "x", {}), ("b", "x", {}), ("b", "x", {"only_shown": True})
    commit(tmp_path, "2026-01-01", a, shown)
    commit(tmp_path, "2026-01-03", a, b)
    commit(tmp_path, "2026-01-05", b)
    dates = declared_dates(tmp_path / "table.yaml")
    assert dates == {("a", "x"): "2026-01-01", ("b", "x"): "2026-01-03"}


def test_a_table_that_is_in_no_checkout(tmp_path):
    (tmp_path / "table.yaml").write_text("comparisons: []")
    assert declared_dates(tmp_path / "table.yaml") == {}
