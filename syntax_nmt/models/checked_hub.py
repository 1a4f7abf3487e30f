"""fairseq's `from_pretrained`, which checks checkpoints first."""

import os
from pathlib import Path
from typing import Any

from syntax_nmt.checkpoints.check import check_loaded
from syntax_nmt.errors import UserError


class CheckedHub:
    """A base class with a safe `from_pretrained`, to list before fairseq's model."""

    @classmethod
    def from_pretrained(
        cls: Any,
        model_name_or_path: str,
        checkpoint_file: str = "model.pt",
        data_name_or_path: str = ".",
        **kwargs: Any,
    ) -> Any:
        """fairseq's hub interface of trained models.

        Our task also checks checkpoints, but the task that a checkpoint names need not be ours.

        Args:
            model_name_or_path: folder of the checkpoints, or a model of fairseq's list. (fairseq
                unpacks archives, too, wherever their entries say.)
            checkpoint_file: one checkpoint, or several with colons between.
            data_name_or_path: of the dictionaries; relative to the folder if it begins with a dot.
            **kwargs: options that replace the checkpoints'.

        Raises:
            UserError: no such folder, or a checkpoint is damaged or could run code.
        """
        if model_name_or_path not in cls.hub_models():
            folder = Path(model_name_or_path)
            if not folder.is_dir():
                raise UserError(f"{folder}: no such folder: unpack an archive, and give its folder")
            for name in checkpoint_file.split(os.pathsep):
                check_loaded(folder / name)
        return super().from_pretrained(  # type: ignore[misc]
            model_name_or_path, checkpoint_file, data_name_or_path, **kwargs
        )
