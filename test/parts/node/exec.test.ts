// exec, attach, port-forward and cp as people use them: real kubectls against the API server and the node agent.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { isPodReady } from '../../../src/kinds/pod/readiness.ts';
import { launchWithStreams } from '../../../src/node/runtimes/process/spawn-streams.ts';
import { findKubectls, type Kubectl, openKubectl } from '../harness/kubectl.ts';
import { type NodeHarness, pods, startNodeHarness } from '../harness/node-harness.ts';
import { waitForOutput } from '../harness/wait-for-output.ts';

const limit = { timeout: 90_000 };
const container = (command: readonly string[], more: object = {}): object => ({
  name: 'app',
  image: 'process',
  command,
  ...more,
});

async function startPod(harness: NodeHarness, name: string, one: object): Promise<void> {
  await harness.run(name, { terminationGracePeriodSeconds: 0, containers: [one] });
  await harness.until(name, isPodReady);
}

/** How many processes are `sleep` for so many seconds; what is still to become one does not count. */
function countSleepers(seconds: string): number {
  return readdirSync('/proc').filter((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      return readFileSync(`/proc/${name}/cmdline`, 'utf8') === `sleep\0${seconds}\0`;
    } catch (error) {
      if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return false;
      throw error;
    }
  }).length;
}

async function untilSleepers(seconds: string, count: number): Promise<void> {
  while (countSleepers(seconds) !== count) await new Promise((resolve) => setTimeout(resolve, 10));
}

/** Arguments of `sleep` that no other process has. */
const uniqueSeconds = (): string => String(100_000 + (randomBytes(4).readUInt32LE() % 900_000));

/** Bytes that differ by position. */
const tenMegabytes = randomBytes(10_000_000);

for (const program of await findKubectls()) {
  const start = async (t: TestContext): Promise<{ harness: NodeHarness; kubectl: Kubectl }> => {
    const harness = await startNodeHarness(t);
    const kubectl = openKubectl(t, program, harness.server.server.address.port);
    return { harness, kubectl };
  };

  test(`${program.name}: exec has exit codes, stdout and stderr`, limit, async (t) => {
    const { harness, kubectl } = await start(t);
    await startPod(harness, 'web', container(['sleep', '1000']));
    const failed = await kubectl.run([
      ...['exec', 'web', '--', 'sh', '-c'],
      'echo out; echo err >&2; exit 3',
    ]);
    assert.deepEqual([failed.code, failed.stdout.toString()], [3, 'out\n']);
    assert.match(failed.stderr, /^err\ncommand terminated with exit code 3\n$/);
    const done = await kubectl.run(['exec', 'web', '--', 'true']);
    assert.deepEqual([done.code, done.stderr], [0, '']);
    const missing = await kubectl.run(['exec', 'web', '--', 'no-such-program']);
    assert.equal(missing.code, 1);
    assert.match(
      missing.stderr,
      /Internal error occurred: error executing command in container: exec: "no-such-program": executable file not found in \$PATH/,
    );
  });

  test(`${program.name}: ten megabytes pass through a program both ways`, limit, async (t) => {
    const { harness, kubectl } = await start(t);
    await startPod(harness, 'web', container(['sleep', '1000']));
    const { code, stdout } = await kubectl.run(['exec', '-i', 'web', '--', 'cat'], tenMegabytes);
    assert.equal(code, 0);
    assert.ok(stdout.equals(tenMegabytes));
  });

  test(
    `${program.name}: a terminal has the size of the window, and is resized`,
    limit,
    async (t) => {
      const { harness, kubectl } = await start(t);
      await startPod(harness, 'web', container(['sleep', '1000']));
      const { path, env } = kubectl.program;
      const until = (size: string): string =>
        `until [ "$(stty size)" = "${size}" ]; do sleep 0.02; done`;
      const script = `tty; ${until('30 100')}; echo first; ${until('10 50')}; exit 5`;
      const words = ['--ctty', path, 'exec', '-it', 'web', '--', 'sh', '-c', script];
      const person = launchWithStreams({ hasInput: true, hasTerminal: true }, (stdio) =>
        spawn('setsid', words, { env: { ...process.env, ...env }, stdio: [...stdio] }),
      );
      person.resize({ columns: 100, rows: 30 });
      await waitForOutput(person.output, /\/dev\/pts\/\d+\r\nfirst\r\n/);
      person.resize({ columns: 50, rows: 10 });
      const { exitCode } = await person.ended;
      assert.equal(exitCode, 5);
    },
  );

  test(
    `${program.name}: attach connects to stdin and stdout, and leaves the container running`,
    limit,
    async (t) => {
      const { harness, kubectl } = await start(t);
      await startPod(harness, 'echo', container(['cat'], { stdin: true }));
      const attached = kubectl.start(['attach', '-i', 'echo']);
      attached.stdin?.write('hello\n');
      await waitForOutput(attached.stdout, /hello\n/);
      attached.kill('SIGKILL');
      await once(attached, 'exit');
      const again = kubectl.start(['attach', '-i', 'echo']);
      again.stdin?.write('again\n');
      await waitForOutput(again.stdout, /again\n/);
      assert.equal(
        (await harness.until('echo', isPodReady)).status.containerStatuses?.[0]?.restartCount,
        0,
      );
    },
  );

  test(`${program.name}: port-forward handles concurrent connections`, limit, async (t) => {
    const { harness, kubectl } = await start(t);
    const server = createServer((request, response) => request.pipe(response));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.after(() => server.close());
    const { port } = server.address() as AddressInfo;
    // The pod is on the network of the node.
    await startPod(harness, 'web', container(['sleep', '1000']));
    const forwarding = kubectl.start(['port-forward', 'pod/web', `:${port}`, ':1']);
    const [, local = '', wrong = ''] = await waitForOutput(
      forwarding.stdout,
      /127\.0\.0\.1:(\d+) -> \d+\n(?:.*\n)*?.*127\.0\.0\.1:(\d+) -> 1\n/,
    );
    const sizes = [0, 1, 1000, 100_000, 3_000_000, 1, 2, 3];
    const echoed = await Promise.all(
      sizes.map(async (size) => {
        const body = tenMegabytes.subarray(0, size);
        const answer = await fetch(`http://127.0.0.1:${local}/`, { method: 'POST', body });
        return Buffer.from(await answer.arrayBuffer()).equals(body);
      }),
    );
    assert.deepEqual(
      echoed,
      sizes.map(() => true),
    );
    // kubectl exits with the first connection that fails, and unread output is lost.
    const output = waitForOutput(
      forwarding.stderr,
      /error forwarding port 1 to pod web, uid \S+: failed to connect to localhost:1 inside namespace .*connection refused/,
    );
    await assert.rejects(fetch(`http://127.0.0.1:${wrong}/`));
    await output;
  });

  test(`${program.name}: cp copies a directory in both directions`, limit, async (t) => {
    const { harness, kubectl } = await start(t);
    await startPod(harness, 'web', container(['sleep', '1000']));
    const directory = mkdtempSync(join(tmpdir(), 'cp-'));
    t.after(() => rmSync(directory, { recursive: true, force: true }));
    const [from, back] = [join(directory, 'from'), join(directory, 'back')];
    // The container's own: it does not see this machine's.
    const inside = '/tmp/inside';
    mkdirSync(join(from, 'below'), { recursive: true });
    writeFileSync(join(from, 'large'), tenMegabytes.subarray(0, 1_000_000));
    writeFileSync(join(from, 'below', 'small'), 'text\n');
    for (const [source, target] of [
      [from, `web:${inside}`],
      [`web:${inside}`, back],
    ] as const) {
      const { code, stderr } = await kubectl.run(['cp', source, target]);
      assert.equal(code, 0, stderr);
    }
    assert.equal(readFileSync(join(back, 'below', 'small'), 'utf8'), 'text\n');
    const large = readFileSync(join(back, 'large'));
    assert.ok(large.equals(tenMegabytes.subarray(0, 1_000_000)));
  });

  test(`${program.name}: errors have Kubernetes' messages`, limit, async (t) => {
    const { harness, kubectl } = await start(t);
    await startPod(harness, 'web', container(['sleep', '1000']));
    await harness.run('stuck', {
      containers: [container([], { image: 'nowhere/none' })],
    });
    await harness.until('stuck', ({ status }) => status.containerStatuses?.[0] !== undefined);
    const cases: readonly (readonly [readonly string[], RegExp])[] = [
      [['exec', 'none', '--', 'true'], /pods "none" not found/],
      [['exec', 'web', '-c', 'other', '--', 'true'], /container other is not valid for pod web/],
      [
        ['exec', 'stuck', '--', 'true'],
        /unable to upgrade connection: container not found \("app"\)/,
      ],
    ];
    for (const [args, words] of cases) {
      const { code, stderr } = await kubectl.run(args);
      assert.equal(code, 1);
      assert.match(stderr, words);
    }
  });

  test(`${program.name}: a program is killed with its client`, limit, async (t) => {
    const { harness, kubectl } = await start(t);
    await startPod(harness, 'web', container(['sleep', '1000']));
    const seconds = uniqueSeconds();
    // Two of them, one in a group of its own.
    const script = `setsid -f sleep ${seconds} & set -m; sleep ${seconds} & sleep ${seconds}`;
    const killed: ChildProcess = kubectl.start(['exec', 'web', '--', 'bash', '-c', script]);
    await untilSleepers(seconds, 3);
    killed.kill('SIGKILL');
    // What has left the session stays with the container.
    await untilSleepers(seconds, 1);
    await harness.api.send({ method: 'DELETE', path: `${pods}/web` });
    await harness.isGone('web');
    await untilSleepers(seconds, 0);
  });
}
