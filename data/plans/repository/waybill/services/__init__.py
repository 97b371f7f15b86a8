"""What the product does; the only code besides the jobs that speaks SQL."""
