"""Stanza, offline: analyses of sentences that are already split into words."""
