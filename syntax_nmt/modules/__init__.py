"""Building blocks, one idea a file; they take numbers and modules, never options."""
