"""The methods, a folder a paper."""
