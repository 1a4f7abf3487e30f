"""Annotation without syntax, as a control of whether structure helps a method."""
