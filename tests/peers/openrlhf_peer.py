"""Run by a Python that has openrlhf's files and this package: its executor calls a reward server and a custom file.

python openrlhf_peer.py URL FILE   prints both answers

The unpacked wheel on PYTHONPATH suffices: installing all of it needs a GPU. URL is the server's ``/openrlhf``; FILE
defines ``reward_func``.
"""

from __future__ import annotations

import asyncio
import json
import sys

from openrlhf.utils.agent import SingleTurnAgentExecutor  # type: ignore[import-not-found]

ASKED = ["1+1?\\boxed{2}<|im_end|>"], ["1+1?"], ["2"]


async def ask(url: str, file: str) -> None:
    print(json.dumps(await SingleTurnAgentExecutor(url)._fetch_rewards_via_http(*ASKED)))
    (found,) = await SingleTurnAgentExecutor(file)._fetch_rewards_via_func(*ASKED)
    print({name: str(value) for name, value in found.items()})


if __name__ == "__main__":
    asyncio.run(ask(*sys.argv[1:]))
