"""Make one label an item of the labels of a panel, one method a file (rule F3)."""
