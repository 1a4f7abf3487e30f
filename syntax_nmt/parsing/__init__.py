"""Stanza, offline: what it says about sentences that are already cut into words."""
