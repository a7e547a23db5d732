// Runs a program and its tests, and reports on each; see `Asked` in runners.py.
"use strict";
(() => {
  const job = JOB;
  const vm = require("vm"), fs = require("fs"), { inspect } = require("util");
  const say = (told) => fs.writeSync(1, job.mark + " " + JSON.stringify(told) + "\n");
  const plain = (value, depth) => {
    if (value === null || typeof value === "boolean" || typeof value === "string") return true;
    if (typeof value === "number") return Number.isFinite(value) && !Object.is(value, -0);
    if (typeof value !== "object" || depth > 200 || Object.getOwnPropertySymbols(value).length) return false;
    const names = Object.getOwnPropertyNames(value);
    const isArray = Array.isArray(value);
    if (Object.getPrototypeOf(value) !== (isArray ? Array : Object).prototype) return false;
    if (names.length !== Object.keys(value).length + (isArray ? 1 : 0)) return false;
    if (isArray && names.length !== value.length + 1) return false;
    return Object.keys(value).every((name) => {
      const field = Object.getOwnPropertyDescriptor(value, name);
      return "value" in field && name !== "toJSON" && plain(field.value, depth + 1);
    });
  };
  const why = (error) => {
    const told = {};
    try {
      told.error = String(error instanceof Error ? error.name : typeof error).slice(0, 100);
      told.message = String(error instanceof Error ? error.message : error).slice(0, 500);
      const line = /\bsolution\.js:(\d+)/.exec(String(error.stack));
      if (line) told.line = Number(line[1]);
    } catch {}
    return told;
  };
  const letter = (error) => {
    try {
      return error instanceof require("assert").AssertionError || error.name === "AssertionError" ? "f" : "e";
    } catch {
      return "e";
    }
  };
  const run = (source, filename) => {
    let script;
    try {
      script = new vm.Script(source, { filename });
    } catch (error) {
      return { failed: { outcome: "s", ...why(error) } };
    }
    try {
      return { value: script.runInThisContext() };
    } catch (error) {
      return { failed: { outcome: letter(error), ...why(error) } };
    }
  };
  say({ ready: true });
  Object.assign(globalThis, { require, module, exports, assert: require("assert") });
  const started = run(job.source, "solution.js");
  // Node's own only prints; tests of HumanEval-X are written with it.
  const { ok } = require("assert");
  console.assert = (value, ...said) => ok(value, said.length ? said.map(String).join(" ") : undefined);
  if (!started.failed && job.setup) started.failed = run(job.setup, "setup.js").failed;
  if (started.failed) return say(started.failed);
  say({ started: true });
  for (const [place, test] of job.tests.entries()) {
    const { failed, value } = run(test, "test.js");
    if (failed) say(failed);
    else if (!job.compared[place]) say({ outcome: "p" });
    else if (value.length !== 1) say({ outcome: "e", message: "more than one value" });
    else if (plain(value[0], 0)) say({ value: value[0] });
    else say({ outcome: "f", message: inspect(value[0], { depth: 3 }).slice(0, 300) });
  }
})();
