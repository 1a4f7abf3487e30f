"""The subcommands of `syntax-nmt`, a file each: options, and the call of what does the work."""
