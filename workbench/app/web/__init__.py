"""HTTP servers: recorded replies as a model server, and the app in a browser."""
