"""Annotation without syntax: what a method is compared with to see whether structure helps it."""
