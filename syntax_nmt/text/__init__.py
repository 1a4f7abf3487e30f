"""Raw text: languages, characters, and rules for words."""
