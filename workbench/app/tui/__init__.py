"""The app in the terminal."""
