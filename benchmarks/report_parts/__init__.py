"""What benchmarks/report.py is made of."""
