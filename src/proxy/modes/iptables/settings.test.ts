import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readSettings } from './settings.ts';

test('readSettings() reads flags, and loopback is on unless switched off (IPT-09)', () => {
  assert.deepEqual(readSettings({}), { answersOnLoopback: true });
  assert.deepEqual(
    readSettings({
      'iptables-localhost-nodeports': 'false',
      'iptables-variant': 'legacy',
      'network-namespace': '/run/netns/n1',
    }),
    { answersOnLoopback: false, variant: 'legacy', namespacePath: '/run/netns/n1' },
  );
  assert.throws(() => readSettings({ 'iptables-variant': 'new' }), /must be "nft" or "legacy"/);
});
