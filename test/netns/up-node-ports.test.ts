// Where node ports answer in `up`, as its flags say: on the loopback alone, as the documentation of Services has it for example.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import {
  ask,
  endWith,
  makeDirectory,
  removeDirectory,
  startUp,
  type Up,
  until,
} from './up-harness.ts';

const timeout = 300_000;

describe('up --nodeport-addresses 127.0.0.0/8 --proxy-mode ipvs', { timeout }, () => {
  const directory = makeDirectory('root');
  let up: Up;

  before(async () => {
    const flags = ['--nodeport-addresses', '127.0.0.0/8', '--proxy-mode', 'ipvs'];
    up = await startUp('root', directory, flags);
  });
  after(async () => {
    await endWith(up, 'SIGTERM');
    removeDirectory(directory);
  });

  test('falls back to a mode that answers there, and says so (KPX-30, IVS-11)', async () => {
    assert.match(up.state().nodes[0]?.proxy ?? '', /^iptables \(.*\) instead of ipvs: /);
    const message = await until(async () => {
      const fields = ['-o', 'jsonpath={.items[*].message}'];
      const only = ['--field-selector', 'reason=ProxyModeFallback'];
      return (await up.kubectl('get', 'events', ...only, ...fields)) || undefined;
    });
    assert.match(message, /^Proxy mode ipvs does not work here, using iptables: /);
  });

  test('node ports answer on the loopback', async () => {
    await up.kubectl('apply', '-f', 'examples/guestbook');
    await up.kubectl('rollout', 'status', 'deployment/frontend', '--timeout=200s');
    const { host, port } = await until(() => {
      const relays = up.state().relays.filter(({ problem }) => problem === undefined);
      return relays.find(({ purpose }) => purpose === 'node port')?.listen;
    });
    // On 127.0.0.1, unless another cluster of this machine has that one.
    assert.match(host, /^127\.0\.0\.\d+$/);
    // The rules of a node port come after the pods are ready, as in Kubernetes: until then it refuses.
    const answer = await until(() => ask(host, port).catch(() => undefined));
    assert.match(answer, /^Guestbook, from frontend-/);
  });
});
