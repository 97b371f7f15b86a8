"""Who imports a file: how each language names its modules, and which import statements mean one."""
