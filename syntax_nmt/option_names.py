"""An option's two spellings: as it is typed, and as Python has it."""


def flag(name: str) -> str:
    """An option as it is typed: `--max-tokens` for `max_tokens`."""
    return "--" + name.replace("_", "-")


def attribute(option: str) -> str:
    """The name of an option's value among parsed ones: `max_tokens` for `--max-tokens`."""
    return option.strip("-").replace("-", "_")
