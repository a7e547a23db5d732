"""The SQL for building and publishing benchmarks, in addition to the columns: `building`."""
