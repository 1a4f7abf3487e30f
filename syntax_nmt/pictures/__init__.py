"""Pictures: plots, the kinds of `syntax-nmt plot`, and the report page."""
