"""Options that several commands declare, and the settings that their values make."""
