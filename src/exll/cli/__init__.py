"""The command line: one file per command, each reading its arguments and calling the library."""
