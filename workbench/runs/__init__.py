"""Background work: runs as rows, one runner process a database, worker pools, progress.

`launch`, `runner`, `lease`, `standing_in`: which process works on a database.
`local` (with `second_stage`), `serving`, `executing` (with `isolation`), `duelling`: the items of a run, by verifier.
`probing`, `probing_servers`: probes. `generating`, `completing`: texts that models write.
`desk` (with `long_texts`), `answering`: items that callers wait for, judged on this machine and by model servers.
`journal`, `accounting`: what calls came to.
"""
