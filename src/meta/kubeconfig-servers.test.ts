import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseYaml } from '../schema/yaml.ts';
import { readOtherServers, renderOtherServers } from './kubeconfig-servers.ts';

function extensionsIn(lines: readonly string[]): unknown {
  const parsed = parseYaml(['cluster:', ...lines, '    server: https://a:1'].join('\n'));
  assert.ok(!('error' in parsed), JSON.stringify(parsed));
  return (parsed.value as { readonly cluster: { readonly extensions?: unknown } }).cluster
    .extensions;
}

test('written servers are read back', () => {
  const servers = ['https://10.0.0.2:6443', 'https://[fd00::3]:6443'];
  assert.deepEqual(readOtherServers(extensionsIn(renderOtherServers(servers))), servers);
});

test('a cluster with one server has no extension', () => {
  assert.deepEqual(renderOtherServers([]), []);
  assert.deepEqual(readOtherServers(undefined), []);
});

const cases: readonly { readonly title: string; readonly extensions: unknown }[] = [
  { title: 'of others', extensions: [{ name: 'minikube.sigs.k8s.io', extension: {} }] },
  { title: 'that are no list', extensions: 'servers' },
  { title: 'without servers', extensions: [{ name: 'fairlead.dev/other-servers' }] },
  {
    title: 'with what is no address',
    extensions: [{ name: 'fairlead.dev/other-servers', extension: { servers: [1, 'no url'] } }],
  },
];
for (const { title, extensions } of cases) {
  test(`extensions ${title} name no server`, () => {
    assert.deepEqual(readOtherServers(extensions), []);
  });
}
