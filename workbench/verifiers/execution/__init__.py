"""Running solutions against tests, isolated from the machine.

verifier: ``execution``. suite, case, running: tests, a solution, a child at work. pool, box, launching: processes.
levels, attacks: which isolation works here. interpreter, runners, javascript: languages. compare, evidence: results.
settings: options of a run. given: tests in the formats of datasets. inside: code that runs inside the sandbox.

A `pool.SandboxPool` has a few slots. Each has a box: a small warm interpreter, the server, inside the sandbox of a
level (L3 namespaces by bubblewrap, Landlock and seccomp; L2 without namespaces; L1 limits only), as a separate user if
this process is root. The server forks children ahead; each gives up all rights and then gets one job from the pool,
over a pipe (a program and its tests). The code inside is in `inside`, uses only the standard library, and never sees
this package.

The only trusted output is "this process gave this value for this test". Deadlines, budgets and sizes are enforced
outside, where a child is checked every hundredth of a second but its output isn't read, so that quick tests wake no
process. Of ``assert f(1) == literal``, where ``f`` is the function under test, only ``f(1)`` is sent inside and its
value comes out as tagged JSON: to pass, a program has to compute the answer. Printed output is compared outside, too;
passes of other tests are counted as forgeable.

One process runs these tests of a solution, another one those that contain the expected values. If a process hangs,
vanishes or writes nonsense, that test gets its outcome and the others continue in a new process. If the server itself
dies, all tests of its solution are ``x`` and another server replaces it. Files can be read (the standard library,
shared libraries, time zones) but not created, unless there is a writable folder (`inside.scratch`), at L3: such a box
is used for one process. There are no sockets, processes or other programs; threads are few.
"""
