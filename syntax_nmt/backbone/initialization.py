"""The initial parameters of the RNN family: uniform, or orthogonal as in the dl4mt tutorial."""

from collections.abc import Iterator

from torch import Tensor, nn

from syntax_nmt.backbone.gru import square_matrices

UNIFORM, ORTHOGONAL = "uniform", "orthogonal"
INITIALIZATIONS = (UNIFORM, ORTHOGONAL)

RANGE = 0.1
DEVIATION = 0.01


def initialize(model: nn.Module, how: str) -> None:
    """Initialises the parameters.

    Args:
        model: changed in place.
        how: one of :data:`INITIALIZATIONS`.
    """
    {UNIFORM: initialize_uniform, ORTHOGONAL: initialize_orthogonal}[how](model)


def initialize_uniform(model: nn.Module) -> None:
    """Draws all parameters from the uniform distribution over (−0.1, 0.1).

    Batch norms keep their 1 and 0, and the embedding of the pad its 0. A parameter that two modules
    share is drawn once for each.

    Args:
        model: changed in place.
    """
    for module in _drawn(model):
        for parameter in module.parameters(recurse=False):
            nn.init.uniform_(parameter, -RANGE, RANGE)
    zero_pads(model)


def zero_pads(model: nn.Module) -> None:
    """Sets the embeddings of pads to 0; called last, as an output layer may share the weights.

    Args:
        model: changed in place.
    """
    for module in model.modules():
        if isinstance(module, nn.Embedding) and module.padding_idx is not None:
            nn.init.zeros_(module.weight[module.padding_idx])


def initialize_orthogonal(model: nn.Module) -> None:
    """Recurrent matrices orthogonal, other weights normal with deviation 0.01, biases 0.

    Each gate has a matrix of its own; those of our recurrences are what their modules give as
    `recurrent_matrices`. (In the tutorial other weights that happen to be square are
    orthogonal, too, so that its start depends on the widths; here it does not.) Batch norms keep
    their 1 and 0, and the embedding of the pad its 0.

    Args:
        model: changed in place.
    """
    for module in _drawn(model):
        for name, parameter in module.named_parameters(recurse=False):
            if name.startswith("bias"):
                nn.init.zeros_(parameter)
            else:
                nn.init.normal_(parameter, std=DEVIATION)
    for module in _drawn(model):
        for matrix in _recurrent_matrices(module):
            nn.init.orthogonal_(matrix)
    zero_pads(model)


def _drawn(model: nn.Module) -> list[nn.Module]:
    """The modules without those that `starts_by_itself`, and without what these contain."""
    modules = list(model.modules())
    own = [module for module in modules if getattr(module, "starts_by_itself", False)]
    kept = {id(inner) for module in own for inner in module.modules()}
    return [module for module in modules if id(module) not in kept]


def _recurrent_matrices(module: nn.Module) -> Iterator[Tensor]:
    """The square matrices by which gates multiply the previous state."""
    if isinstance(module, nn.GRU):
        for name, weight in module.named_parameters():
            if name.startswith("weight_hh"):
                yield from square_matrices(weight)
    else:
        yield from getattr(module, "recurrent_matrices", tuple)()
