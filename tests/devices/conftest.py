"""Small models of every method, on the processor and, where there is one, on a GPU."""

import pytest

CUDA = pytest.param("cuda", marks=pytest.mark.gpu)


@pytest.fixture(scope="module", params=["cpu", CUDA])
def device(request) -> str:
    return request.param
