"""WHETHER PLANS CAN BE EXECUTED: document 003's nine dimensions, one file each; nothing here asks a model (rule D4)."""
