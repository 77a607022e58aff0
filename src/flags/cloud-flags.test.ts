import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Command } from 'commander';
import { allProviders } from '../cloud/providers/all.ts';
import { addCloudFlags, type CloudFlags, providerNamed, providerSettings } from './cloud-flags.ts';

const parse = (...args: readonly string[]): CloudFlags & Record<string, unknown> => {
  const command = addCloudFlags(new Command(), 'local').exitOverride();
  command.configureOutput({ writeErr: () => {} });
  return command.parse(args, { from: 'user' }).opts();
};

test('addCloudFlags() sets the defaults', () => {
  const flags = parse();
  assert.equal(flags.cloudProvider.name, 'local');
  assert.equal(flags.clusterName, 'kubernetes');
  assert.equal(flags.loadBalancerClass, undefined);
});

test('providerSettings() returns the flags of the chosen provider only', () => {
  const flags = parse('--load-balancer-pool', '192.0.2.0/24', '--cluster-name', 'c1');
  assert.deepEqual(providerSettings(providerNamed('local'), flags), {
    loadBalancerPool: '192.0.2.0/24',
  });
});

test('every flag of a provider has the key of its option', () => {
  for (const { name, flags } of allProviders) {
    const args = flags.flatMap(({ flag }) => [flag.split(' ')[0] ?? '', 'text']);
    const found = Object.keys(providerSettings(providerNamed(name), parse(...args)));
    assert.deepEqual(found.sort(), flags.map(({ key }) => key).sort(), name);
  }
});

test('addCloudFlags() rejects invalid values', () => {
  assert.throws(() => parse('--cloud-provider', 'moon'), /"moon" is not one of "local"/);
  assert.throws(() => parse('--concurrent-service-syncs', '0'), /from 1 to 50/);
});
