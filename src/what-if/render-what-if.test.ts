import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { exampleService } from '../kinds/service/example.ts';
import { exampleDeployment } from '../snapshot/example.ts';
import { exampleCluster, exampleWhatIf } from './example.ts';
import { type RenderOptions, renderWhatIf } from './render-what-if.ts';
import type { WhatIf } from './what-if.ts';

const plain = (text: string): string => text;
const options: RenderOptions = {
  paint: { bold: plain, dim: plain, red: plain, green: plain, yellow: plain, cyan: plain },
  isVerbose: false,
  columns: 120,
  rows: 40,
};
const lines = (found: WhatIf, more: Partial<RenderOptions> = {}): readonly string[] =>
  renderWhatIf(found, { ...options, ...more }).split('\n');

const many = exampleWhatIf(
  exampleCluster({
    services: Array.from({ length: 30 }, (_none, at) =>
      exampleService({
        metadata: { name: `web-${at}`, uid: `service-${at}` },
        spec: {
          selector: { app: 'web' },
          clusterIP: `10.96.1.${at}`,
          clusterIPs: [`10.96.1.${at}`],
        },
      }),
    ),
  }),
  [['scale', 'deploy/web=1']],
);

describe('renderWhatIf()', () => {
  it('begins with the verdict and ends with what was taken for granted', () => {
    const before = exampleCluster({ deployments: [exampleDeployment('web', { replicas: 1 })] });
    const pod = before.objects.pods[0]?.metadata.name ?? '';
    const text = lines(exampleWhatIf(before, [['drain', 'node/n1']]));
    assert.deepEqual(text, [
      'Interruption: Service default/web has no endpoint for all clients until a new pod is ready',
      '  --drain node/n1: 1 pod evicted, and the node takes no new pods',
      '',
      'default/web has no endpoint for all clients until a new pod is ready',
      '  80/TCP, all clients: answered, then refused, then answered',
      '    ENDPOINT             NODE  ZONE  BEFORE  AFTER',
      `    ${pod}  n1    a     100 %   -`,
      '    a new pod            n2    b     -       100 %',
      '    by zone: a 100 % → -, b - → 100 %',
      `  connections to ${pod} end, within 30 s`,
      '',
      'Taken for granted:',
      '  1 new pod becomes ready; images, volumes and quotas are not considered, and names and addresses of new pods are made up',
      '  Pods that go are taken to be gone; while they terminate, some still answer',
      '',
    ]);
  });

  it('fits on a screen unless all is wanted', () => {
    const short = lines(many);
    assert.ok(short.length <= 40, `${short.length} lines`);
    assert.ok(short.some((line) => /^and \d+ more Services; -v shows all$/.test(line)));
    assert.equal(
      lines(many, { isVerbose: true }).filter((line) => /^default\/web-\d+ /.test(line)).length,
      30,
    );
  });

  it('writes out what a terminal would obey', () => {
    const hostile = '\u001b[2J\u0007\u202e';
    const [service] = many.services;
    assert.ok(service !== undefined);
    const text = renderWhatIf(
      {
        ...many,
        changes: [hostile],
        verdict: { level: 'change', sentence: hostile },
        assumptions: [hostile],
        services: [
          {
            ...service,
            sentence: hostile,
            views: service.views.map((view) => ({
              ...view,
              portName: hostile,
              clients: { from: 'cluster', sentence: hostile },
              endpoints: view.endpoints.map((one) => ({ ...one, pod: hostile, node: hostile })),
            })),
            names: [{ change: 'changes', name: hostile, type: 'A', before: [hostile], after: [] }],
            entrances: [
              { change: 'appears', kind: 'cluster-ip', address: hostile, port: 1, protocol: 'TCP' },
            ],
            connections: { ends: [{ pod: hostile }], stays: [hostile] },
          },
        ],
        pods: {
          ...many.pods,
          unscheduled: [{ namespace: hostile, owner: hostile, count: 1, message: hostile }],
        },
      },
      { ...options, isVerbose: true },
    );
    assert.doesNotMatch(text.replaceAll('\n', ''), /[\p{Cc}\u202e]/u);
    assert.ok(text.includes('\\x1b[2J'));
  });
});
