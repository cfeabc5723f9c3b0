"""The command line: one command group a file; what they share (exits, output, progress) beside them."""
