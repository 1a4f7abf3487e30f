"""Stanza, offline: what it says about sentences that are already split into words."""
