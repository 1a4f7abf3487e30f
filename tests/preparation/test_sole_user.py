"""What a killed run left is cleared away, and nothing of the user's."""

from syntax_nmt.data.folder_lock import sole_user


def test_only_what_the_program_writes_is_cleared_away(tmp_path):
    outputs = [tmp_path / "prepare.json", tmp_path / "words" / "train.de", tmp_path / "data-bin"]
    ours = ["prepare.json.partial12", "words/train.de.partial7", "data-bin.partial/dict.de.txt"]
    others = ["thesis.partial1", "mail.partial/kept", "pictures/train.de.partial7"]
    others += [f"prepare.json.partial{ending}" for ending in ("", "1.bak", "ly")]
    of_words = ("notes.partial1", "valid.de.partial7", "train.de.partial8/kept", "train.de")
    others += [f"words/{name}" for name in of_words]
    for name in (*ours, *others):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    with sole_user(tmp_path, outputs):
        left = {str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*") if p.is_file()}
    assert left == set(others)
    assert not (tmp_path / "data-bin.partial").exists()
