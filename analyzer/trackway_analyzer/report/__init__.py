"""Results as a person or a machine reads them: one file an output."""
