"""Small models of every method, on the processor and, where there is one, on a GPU."""

import pytest
from small_models import write_dictionaries

CUDA = pytest.param("cuda", marks=pytest.mark.gpu)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = write_dictionaries(tmp_path_factory.mktemp("dictionaries"))
    (folder / "dict.chunks.txt").write_text("NP\nVP\nO\n", encoding="utf-8")
    return folder


@pytest.fixture(scope="module", params=["cpu", CUDA])
def device(request) -> str:
    return request.param
