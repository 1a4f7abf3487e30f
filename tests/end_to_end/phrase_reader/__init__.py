"""A `--user-dir` with a model that reads phrases, and writes down what it reads."""

import json
import os

from fairseq.models import register_model, register_model_architecture
from fairseq.models.transformer import TransformerEncoder, TransformerModel, base_architecture

import syntax_nmt  # noqa: F401  the task
from syntax_nmt.data.annotation import PHRASES


class PhraseReadingEncoder(TransformerEncoder):
    def forward(self, src_tokens, src_lengths, phrase_lengths, **options):
        assert phrase_lengths.dtype.is_signed
        assert phrase_lengths.sum(dim=1).tolist() == src_lengths.tolist()
        with open(os.environ["PHRASES_READ"], "a") as out:
            for tokens, phrases in zip(src_tokens.tolist(), phrase_lengths.tolist()):
                tokens = [token for token in tokens if token != self.padding_idx]
                phrases = [length for length in phrases if length]
                out.write(json.dumps([tokens, phrases]) + "\n")
        return super().forward(src_tokens, src_lengths, **options)


@register_model("phrase_reader")
class PhraseReader(TransformerModel):
    reads_annotation = (PHRASES,)

    @classmethod
    def build_encoder(cls, args, src_dict, embed_tokens):
        return PhraseReadingEncoder(args, src_dict, embed_tokens)

    def forward(self, src_tokens, src_lengths, prev_output_tokens, phrase_lengths):
        encoded = self.encoder(src_tokens, src_lengths, phrase_lengths)
        return self.decoder(prev_output_tokens, encoder_out=encoded)


register_model_architecture("phrase_reader", "phrase_reader")(base_architecture)
