"""The subcommands of `syntax-nmt`, one file each: options, and the call of the code."""
