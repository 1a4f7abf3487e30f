"""What fairseq's functions remember of a training before, in the same process."""

from fairseq import checkpoint_utils
from fairseq_cli import train
from small_models import build

from syntax_nmt.task.resuming import is_at_end


def test_the_next_training_of_a_process_begins_to_count_anew(folder):
    """`fairseq-hydra-train -m` has several of them."""
    for function in (train.should_stop_early, checkpoint_utils.save_checkpoint):
        function.best = 1.5
    train.should_stop_early.num_runs = 3
    assert is_at_end(3)
    _, task, _ = build(folder, "syntax_transformer_tiny")
    assert not is_at_end(1)
    assert task.state_dict()["patience"] == {}
    assert not hasattr(checkpoint_utils.save_checkpoint, "best")
