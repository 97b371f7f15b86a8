"""Rules that find secrets in texts and in names of files; patterns are data, in the tables beside them."""
