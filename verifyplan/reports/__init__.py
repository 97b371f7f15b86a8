"""Write analyses and runs as Markdown, HTML and lines of text that need no other file."""
