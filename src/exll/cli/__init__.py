"""The command line: one file a command, each reading its arguments and calling the library."""
