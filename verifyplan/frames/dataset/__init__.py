"""Datasets: runs compiled into parts of Parquet files, opened without being read (rule E5)."""
