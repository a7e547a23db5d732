"""The SQL that benchmarks are built from and published with, in addition to the columns: `building`."""
