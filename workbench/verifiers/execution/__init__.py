"""Running solutions against tests, isolated from the machine.

verifier: ``execution``. suite, case, running: tests, a solution, a child at work. pool, box, launching: processes.
levels, attacks: which walls hold here. interpreter, runners, javascript: languages. compare, evidence: what came out.
settings: what may differ between runs. given: tests in the formats of datasets. inside: what runs behind the walls.

A `pool.SandboxPool` has a few slots. Each holds a box: a small warm interpreter, the server, behind the walls of a
level (L3 namespaces by bubblewrap, Landlock and seccomp; L2 without namespaces; L1 limits alone), as a user of its own
where this process is root. The server forks children ahead; each gives up all it has and then gets one job from the
pool, over a pipe: a program and its tests. What runs in there is in `inside`, standard library only, and never sees
this package.

Nothing that comes out is trusted but "this process gave this value for this test". Deadlines, budgets and sizes are
kept out here, where a child is looked at every hundredth of a second but not listened to, so that quick tests wake
nobody. Of ``assert f(1) == literal``, where ``f`` is what is tested, only ``f(1)`` goes in and its value comes out as
tagged JSON: to pass is to compute the answer. Printed output is compared out here too; what other tests say is counted
as forgeable when they pass.

One process runs these tests of a solution, another one those that contain the expected values. Where it hangs,
vanishes or writes nonsense, that test has its outcome and the others go on in a new process. If the server itself
dies, all tests of its solution are ``x`` and another server takes its place. Files can be read (the standard library,
shared libraries, time zones) but not made, unless there is a folder for that (`inside.scratch`), at L3: such a box is
for one process. There are no sockets, processes or other programs; threads are few.
"""
