"""The client for model servers: requests out, replies in, every attempt written down before it is sent.

caller: one call through everything. lane: one role's server. budget: what may be spent. pace: how fast, how often.
journal: what must be kept. records: requests and replies. dialects, profiles: forms and kinds of servers.
server: which one, and its address. check: whether it can be worked with. transport: bytes. clock: time and chance.
"""
