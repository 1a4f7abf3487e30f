"""A linear map of the concatenation of two vectors, without building it."""

import math

from torch import Tensor, nn


class LinearOfPair(nn.Module):
    """`W [a ; b] + bias` as the sum of two products, one for each half of W.

    The concatenation takes neither memory nor time, and each half is multiplied only once: the
    summary of a phrase is not multiplied again for each of its tokens.

    Args:
        first_dim: width of a.
        second_dim: width of b.
        output_dim: width of the result.
    """

    def __init__(self, first_dim: int, second_dim: int, output_dim: int) -> None:
        super().__init__()
        self.first = nn.Linear(first_dim, output_dim)
        self.second = nn.Linear(second_dim, output_dim, bias=False)
        bound = 1 / math.sqrt(first_dim + second_dim)  # torch's default for the whole map
        for parameter in self.parameters():
            nn.init.uniform_(parameter, -bound, bound)

    def forward(self, first: Tensor, second: Tensor) -> Tensor:
        """The map of two vectors at each place.

        The result is a matrix, which may be changed in place. What a linear map returns for more
        than two dimensions is a view, and autograd copies all of the gradient of a view that is
        changed in place.

        Args:
            first: …×first_dim.
            second: …×second_dim, of the same places.

        Returns:
            N×output_dim, a row for each place.
        """
        return self.first(first.flatten(0, -2)).add_(self.second(second.flatten(0, -2)))
