"""A `--user-dir` that is the plugin with a stand-in for the parser of `--parser-config`."""

from parsing_stand_in import Parser

import syntax_nmt  # noqa: F401  registers everything
from syntax_nmt.task import parsed_phrases

parsed_phrases.loaded_analyser = lambda *_: Parser()
