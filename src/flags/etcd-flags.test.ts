import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Command, CommanderError } from 'commander';
import { createMetrics } from '../observe/metrics.ts';
import { addEtcdFlags, type EtcdFlags, openEtcd } from './etcd-flags.ts';

function parse(...args: readonly string[]): EtcdFlags {
  const command = addEtcdFlags(new Command()).exitOverride();
  command.configureOutput({ writeErr: () => {} });
  return command.parse([...args], { from: 'user' }).opts();
}

const world = { cwd: '/', now: () => 0, metrics: createMetrics() };

test('without flags there is no etcd', async () => {
  const flags = parse();
  assert.deepEqual(flags, { etcdPrefix: '/fairlead', etcdCompactionInterval: 300_000 });
  assert.equal(await openEtcd(flags, world), undefined);
});

test('flags say where etcd is', () => {
  const flags = parse(
    ...['--etcd-servers', 'https://10.0.0.1:2379, https://etcd-2:2379/', '--etcd-prefix', '/a/b/'],
    ...['--etcd-compaction-interval', '0'],
  );
  assert.deepEqual(flags, {
    etcdServers: ['https://10.0.0.1:2379', 'https://etcd-2:2379'],
    etcdPrefix: '/a/b',
    etcdCompactionInterval: 0,
  });
});

for (const wrong of [
  ['--etcd-servers', '10.0.0.1:2379'],
  ['--etcd-servers', 'ftp://10.0.0.1'],
  ['--etcd-servers', 'http://one:2379/path'],
  ['--etcd-servers', ''],
  ['--etcd-prefix', 'fairlead'],
  ['--etcd-prefix', '/'],
  ['--etcd-compaction-interval', '5'],
] as const) {
  test(`${wrong.join(' ')} is refused`, () => {
    assert.throws(() => parse(...wrong), CommanderError);
  });
}

for (const [args, message] of [
  [['--etcd-cafile', 'ca.crt'], /--etcd-servers is missing/],
  [['--etcd-servers', 'https://one:2379', '--etcd-certfile', 'x'], /without each other/],
  [['--etcd-servers', 'https://one:2379', '--etcd-cafile', 'none'], /Cannot read --etcd-cafile/],
  [['--etcd-servers', 'http://127.0.0.1:1'], /Cannot reach etcd: .*--etcd-servers http/],
] as const) {
  test(`${args.join(' ')} is explained`, async () => {
    await assert.rejects(openEtcd(parse(...args), world), { name: 'UsageError', message });
  });
}
