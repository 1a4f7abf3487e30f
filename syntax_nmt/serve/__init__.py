"""A page on the user's own machine: translations and the syntax in them, while one types."""
