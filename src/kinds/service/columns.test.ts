import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serviceColumns } from './columns.ts';
import { examplePort, exampleService, type ServiceParts } from './example.ts';

const cells = (parts: ServiceParts): readonly unknown[] =>
  serviceColumns.map((column) => column.cell(exampleService(parts), 0));

const cases: readonly [string, ServiceParts, readonly unknown[]][] = [
  [
    'a cluster IP and a selector',
    { spec: { selector: { b: '2', a: '1' } } },
    ['web', 'ClusterIP', '10.96.0.20', '<none>', '80/TCP', '<unknown>', 'a=1,b=2'],
  ],
  [
    'node ports and external addresses (KCT-12, KCT-13)',
    {
      spec: {
        type: 'NodePort',
        externalIPs: ['198.51.100.1', '198.51.100.2'],
        ports: [examplePort({ nodePort: 31000 }), examplePort({ port: 53, protocol: 'UDP' })],
      },
    },
    [
      'web',
      'NodePort',
      '10.96.0.20',
      '198.51.100.1,198.51.100.2',
      '80:31000/TCP,53/UDP',
      '<unknown>',
      '<none>',
    ],
  ],
  [
    'a load balancer that is not there yet (KCT-12)',
    { spec: { type: 'LoadBalancer' } },
    ['web', 'LoadBalancer', '10.96.0.20', '<pending>', '80/TCP', '<unknown>', '<none>'],
  ],
  [
    'sorted balancer addresses before the external ones',
    {
      spec: { type: 'LoadBalancer', externalIPs: ['198.51.100.1'] },
      status: {
        loadBalancer: { ingress: [{ hostname: 'lb.example.com' }, { ip: '203.0.113.9' }] },
      },
    },
    [
      'web',
      'LoadBalancer',
      '10.96.0.20',
      '203.0.113.9,lb.example.com,198.51.100.1',
      '80/TCP',
      '<unknown>',
      '<none>',
    ],
  ],
];

for (const [name, parts, wanted] of cases) {
  test(`serviceColumns show ${name}`, () => {
    assert.deepEqual(cells(parts), wanted);
  });
}

test('serviceColumns show the name that an ExternalName stands for (KCT-12)', () => {
  const service = {
    ...exampleService(),
    spec: { type: 'ExternalName' as const, externalName: 'x.example.com' },
  };
  const row = serviceColumns.map((column) => column.cell(service, 0));
  assert.deepEqual(row.slice(1, 5), ['ExternalName', '<none>', 'x.example.com', '<none>']);
});
