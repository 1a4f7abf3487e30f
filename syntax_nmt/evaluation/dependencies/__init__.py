"""Dependency trees out of supervised heads, and their score."""
