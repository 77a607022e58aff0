import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { allCommands } from './commands/all.ts';
import { commandFirst, pluginCommands } from './kubectl-plugin.ts';

describe('commandFirst()', () => {
  const table: readonly (readonly [string, string])[] = [
    ['trace svc/web -n shop', 'trace svc/web -n shop'],
    ['-n shop trace svc/web', 'trace -n shop svc/web'],
    ['--context=a --as jo doctor -A', 'doctor --context=a --as jo -A'],
    ['--insecure-skip-tls-verify trace svc/web', 'trace --insecure-skip-tls-verify svc/web'],
    ['--help', '--help'],
    ['-n shop --help', '-n shop --help'],
    ['-n', '-n'],
  ];
  for (const [given, wanted] of table) {
    it(`makes "${wanted}" of "${given}"`, () => {
      assert.deepEqual(commandFirst(given.split(' ')), wanted.split(' '));
    });
  }
});

describe('pluginCommands', () => {
  it('has trace and doctor, and nothing that runs a part', () => {
    const names = allCommands.map(({ name }) => name).filter((name) => pluginCommands.has(name));
    for (const name of ['trace', 'doctor']) assert.ok(names.includes(name));
    for (const name of ['up', 'shell', 'apiserver', 'proxy']) assert.ok(!names.includes(name));
  });
});
