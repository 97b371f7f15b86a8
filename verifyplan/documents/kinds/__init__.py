"""One module for each kind of document: its model, how it is read, and what its records hold."""
