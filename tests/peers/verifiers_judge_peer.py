"""Run by a Python that has verifiers and this package: rollouts with a scripted model, rewarded by `judge`.

python verifiers_judge_peer.py CASES   prints what the traces hold; its harness needs uv, nothing else a network
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import verifiers.v1 as vf  # type: ignore[import-not-found]

CASES = json.loads(Path(sys.argv[1]).read_text())
CODE = json.loads(Path(sys.argv[1]).with_name("code.json").read_text())
REWARDS = {"acc": {"fn": "workbench.training.verifiers:judged"}}
BY_TESTS = {"acc": {"fn": "my_rewards:judged"}}
MY_REWARDS = """
from workbench.training.verifiers import judged_by

judged = judged_by("execution", "tests", pay="share")
"""


class CaseData(vf.TaskData):  # type: ignore[misc]
    answer: list[str]


class CodeData(vf.TaskData):  # type: ignore[misc]
    tests: list[str]
    entry_point: str = "double"


class CodeTask(vf.Task[CodeData, vf.State, vf.TaskConfig]):  # type: ignore[misc]
    pass


class CaseTask(vf.Task[CaseData, vf.State, vf.TaskConfig]):  # type: ignore[misc]
    pass


class Model(BaseHTTPRequestHandler):
    """Stream the scripted replies, as OpenAI's API does."""

    reply = ""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        chunk = {"index": 0, "delta": {"role": "assistant", "content": self.reply}, "finish_reason": None}
        end = {"index": 0, "delta": {}, "finish_reason": "stop"}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        head: dict[str, Any] = {"id": "x", "object": "chat.completion.chunk", "created": 0, "model": "scripted"}
        chunks: list[dict[str, Any]] = [{"choices": [chunk]}, {"choices": [end]}, {"choices": [], "usage": usage}]
        lines = [*(json.dumps(head | chunk) for chunk in chunks), "[DONE]"]
        body = "".join(f"data: {line}\n\n" for line in lines).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


async def rolled_out(port: int) -> tuple[list[vf.Trace], list[vf.Trace]]:
    client = vf.EvalClientConfig(base_url=f"http://127.0.0.1:{port}/v1", api_key_var="SCRIPTED_KEY")
    config = vf.AgentConfig(model="scripted", client=client, harness={"id": "null"}, runtime=vf.SubprocessConfig())
    traces, solved = [], []
    async with vf.Agent(config) as agent:
        for case in CASES:
            Model.reply = case["completion"]
            task = CaseTask(CaseData(prompt=case["question"], answer=case["answer"]), vf.TaskConfig(rewards=REWARDS))
            traces.append(await agent.run(task))
        for case in CODE:
            Model.reply = case["completion"]
            data = CodeData(prompt="Double x.", tests=case["tests"])
            solved.append(await agent.run(CodeTask(data, vf.TaskConfig(rewards=BY_TESTS))))
    return traces, solved


def main() -> None:
    os.environ["SCRIPTED_KEY"] = "none"
    with ThreadingHTTPServer(("127.0.0.1", 0), Model) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "my_rewards.py").write_text(MY_REWARDS)
            sys.path.insert(0, folder)
            traces, solved = asyncio.run(rolled_out(server.server_port))
        server.shutdown()
    rows = [{"acc": trace.reward, "undecided": trace.metrics.get("undecided")} for trace in traces]
    found = {
        "ok": [trace.ok for trace in traces],
        "tests": [{"acc": trace.reward, "undecided": trace.metrics.get("undecided")} for trace in solved],
        "rows": rows,
        "answers": [trace.info["rules"]["candidate_final"] for trace in traces],
        "reasons": [trace.info["rules"]["reason"] for trace in traces],
        "figures": [{name: sum(row[name] for row in rows) / len(rows) for name in ("acc", "undecided")}],
    }
    print(json.dumps(found, ensure_ascii=False))


if __name__ == "__main__":
    main()
