"""Constituency trees out of syntactic distances, and their score."""
