"""What sets are built from and published with, beside the columns: `building`."""
