// `fairlead trace --live` in an `up` of its own: what the kernel really does is as planned, until its rules are changed behind the proxy.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { LiveTrace } from '../../src/trace/live/live.ts';
import type { Trace } from '../../src/trace/trace.ts';
import {
  endWith,
  type Identity,
  makeDirectory,
  removeDirectory,
  startUp,
  type Up,
} from './up-harness.ts';

const timeout = 600_000;
const identities = ['root', 'an ordinary user'] as const satisfies readonly Identity[];

const server = `require('http').createServer((_, answer) => answer.end('web')).listen(8080)`;
const manifest = [
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'web' },
    spec: { selector: { app: 'web' }, ports: [{ port: 80, targetPort: 8080 }], type: 'NodePort' },
  },
  ...['a', 'b'].map((name) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `web-${name}`, labels: { app: 'web' } },
    spec: { containers: [{ name: 'app', image: 'process', command: ['node', '-e', server] }] },
  })),
  {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'client' },
    spec: { containers: [{ name: 'app', image: 'process', command: ['sleep', '100000'] }] },
  },
];

for (const identity of identities) {
  describe(`trace --live in an up of ${identity}`, { timeout }, () => {
    const directory = makeDirectory(identity);
    let up: Up;

    const live = async (...words: readonly string[]): Promise<LiveTrace> => {
      const command = ['trace', '--live', '-o', 'json', ...words];
      // Differences have an exit code of their own.
      const text = await up.fairlead(...command).catch((error: { readonly stdout?: string }) => {
        if (error.stdout === undefined) throw error;
        return error.stdout;
      });
      const { live } = JSON.parse(text) as Trace;
      assert.ok(live !== undefined);
      return live;
    };
    const addressOf = async (kind: string): Promise<string> =>
      (await up.kubectl(...kind.split(' '))).trim();

    before(async () => {
      up = await startUp(identity, directory, ['--nodes', '2']);
      const file = join(directory, 'web.json');
      writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: manifest }));
      await up.kubectl('apply', '-f', file);
      const pods = ['pod/web-a', 'pod/web-b', 'pod/client'];
      await up.kubectl('wait', '--for=condition=Ready', '--timeout=120s', ...pods);
      // Rules are a moment behind the pods that they lead to.
      await up.fairlead('propagation', 'svc/web', '--wait', '--timeout', '120s');
    });

    after(async () => {
      await endWith(up, 'SIGKILL');
      removeDirectory(directory);
    });

    for (const from of ['pod/client', 'node/node-1', 'outside']) {
      test(`finds the world as planned from ${from}`, async () => {
        const found = await live('svc/web', '--from', from, '--count', '20');
        const { differences, isAnswered, connections, queries, rules } = found;
        assert.deepEqual(differences, [], JSON.stringify(found));
        assert.ok(isAnswered);
        const [first] = connections;
        assert.deepEqual(first?.results, { answered: 20 });
        assert.equal(
          first?.endpoints.reduce((sum, { attempts }) => sum + attempts, 0),
          20,
        );
        assert.equal(queries.length > 0, from === 'pod/client');
        assert.ok(rules.length > 0 && rules.every(({ state }) => state === 'as-wanted'));
      });
    }

    test('marks the rules first when the kernel leads elsewhere', async () => {
      const ip = await addressOf('get service web -o jsonpath={.spec.clusterIP}');
      const client = await addressOf('get pod client -o jsonpath={.status.podIP}');
      const node = await addressOf('get pod client -o jsonpath={.spec.nodeName}');
      const key = `${ip} . tcp . 80 . 0`;
      const nft = (text: string) => up.fairlead('shell', '--node', node, '--', 'nft', text);
      await nft(`delete element ip kube-proxy endpoints { ${key} }`);
      await nft(`add element ip kube-proxy endpoints { ${key} : ${client} . 9 }`);
      const found = await live('svc/web', '--from', 'pod/client', '--count', '20');
      const hops = found.differences.map(({ hop }) => hop);
      assert.deepEqual([...new Set(hops)], ['rules', 'endpoints', 'connection']);
      const [rules] = found.rules;
      assert.equal(rules?.state, 'differ');
      assert.match(rules?.missing.join() ?? '', new RegExp(`^element of endpoints: ${ip} `));
      assert.match(rules?.stale.join() ?? '', new RegExp(`: ${client} \\. 9$`));
      assert.match(found.sentence, /^The world differs from the plan, first at the rules: /);
    });
  });
}
