"""Analyses of panels of workers: what each worker is worth, what a panel is worth, how votes move over rounds."""
