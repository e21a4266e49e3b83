"""One writer, many readers, and Ctrl-C at a safe moment."""
