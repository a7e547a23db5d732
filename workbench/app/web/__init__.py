"""HTTP servers.

serve: the app in a browser. reward: verifiers as rewards. replay: recorded replies as a model server.

listening: sockets and connection limits.
"""
