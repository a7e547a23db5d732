"""The client for model servers: requests out, replies in, every attempt written down before it is sent.

caller: one call through everything. lane: one role's server. pace: how fast, how often, and what may be spent.
records: requests and replies, and what of them must be kept. dialects, profiles: forms and kinds of servers.
server: which one, and its address. server_json: JSON as they write it. keys: where its key comes from.
check: whether it can be worked with. transport: bytes. clock: time and chance. failures: why an attempt failed.
waits: what a server asks for and allows. prices: what models cost. batches: calls that a provider answers together.
"""
