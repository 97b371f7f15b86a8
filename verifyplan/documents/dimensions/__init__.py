"""THE PLAN CHECK: may plans be executed? Nine dimensions, without a model (rule D4)."""
