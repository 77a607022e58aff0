import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shellCommand } from './shell-command.ts';

const node = { kind: 'node', namespacePath: '/proc/2/fd/33', resolvConf: '/data/resolv' } as const;

test('shellCommand() enters all namespaces of up, and the network of the node by its path on the machine', () => {
  const words = shellCommand({ firstProcess: 71, isUserNamespace: true }, node, ['bash']);
  assert.equal(
    words.slice(0, 9).join(' '),
    `nsenter --target 71 --user --preserve-credentials --mount --pid --net=/proc/71/root${node.namespacePath} --`,
  );
  assert.deepEqual(words.slice(-2), ['/data/resolv', 'bash']);
});

test('shellCommand() of a pod enters its container from inside', () => {
  const words = shellCommand(
    { firstProcess: 71, isUserNamespace: false },
    { kind: 'pod', pid: 12 },
    ['env'],
  );
  assert.equal(
    words.join(' '),
    'nsenter --target 71 --mount --pid -- nsenter --target 12 --mount --pid --uts --ipc --net --root --wd -- env',
  );
});

test('shellCommand() without namespaces of up enters only the container', () => {
  const up = { isUserNamespace: false };
  assert.equal(shellCommand(up, { kind: 'pod', pid: 12 }, ['env'])[2], '12');
  const { namespacePath: _, ...here } = node;
  assert.equal(shellCommand(up, here, ['env'])[0], 'unshare');
});

test('shellCommand() outside enters the LAN with the resolver configuration of the machine', () => {
  const target = { kind: 'outside', namespacePath: '/proc/2/fd/31' } as const;
  const words = shellCommand({ firstProcess: 71, isUserNamespace: false }, target, ['env']);
  assert.equal(
    words.join(' '),
    'nsenter --target 71 --mount --pid --net=/proc/71/root/proc/2/fd/31 -- env',
  );
});
