"""WHO SPEAKS: backends that answer typed requests with typed replies."""
