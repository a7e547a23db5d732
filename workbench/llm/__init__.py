"""The client for model servers; every attempt is recorded before it is sent.

caller: makes calls. endpoint: a server's address and request format. gate: concurrency, rates and budgets.
records: requests, replies, and the journal's interface. dialects, profiles: request formats and kinds of servers.
server: addresses and settings of servers. server_json: lenient JSON parsing. keys: API keys.
check: diagnoses a server. transport: HTTP. failures: classifies errors. waits: the clock, and rate-limit headers.
prices: costs of models. batches: batch APIs.
"""
