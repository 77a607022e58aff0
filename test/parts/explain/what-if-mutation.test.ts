// A prediction decides nothing by itself: where a rule of the proxy, the DNS, the controllers, the scheduler or the API server is broken,
// it says what is then so.
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { test } from 'node:test';
import type * as Example from '../../../src/what-if/example.ts';
import type { WhatIf } from '../../../src/what-if/what-if.ts';
import { type Edit, loadFrom, makeMutant, rightProgram } from './mutants.ts';
import { predictedWorld } from './predicted-world.ts';

const parts = [
  'ip',
  'schema',
  'meta',
  'kinds',
  'host',
  'observe',
  'client',
  'storage',
  'apiserver',
];
const folders = [...parts, 'controllers', 'proxy', 'dns', 'node', 'snapshot', 'trace', 'what-if'];

type Mutation = Edit & {
  readonly breaks: string;
  readonly change: Example.ExampleChange;
  /** What of the prediction must differ; absent: the views. */
  readonly of?: (found: WhatIf) => unknown;
};

const views = ({ services }: WhatIf) =>
  services.map((one) => [one.name, one.views.map((view) => [view.after, view.endpoints])]);
const names = ({ services }: WhatIf) => services.map((one) => [one.name, one.names]);

const mutations: readonly Mutation[] = [
  {
    breaks: 'that policy Local keeps to the node',
    file: 'proxy/model/select-endpoints.js',
    find: 'entries.filter(({ isLocal }) => isLocal)',
    replace: 'entries',
    change: ['set', 'svc/web:internalTrafficPolicy=Local'],
  },
  {
    breaks: 'that a Service without endpoints refuses',
    file: 'proxy/packets/reference-model.js',
    find: "verdict: reject, why: 'no-endpoints'",
    replace: "verdict: drop, why: 'no-endpoints'",
    change: ['scale', 'deploy/web=0'],
  },
  {
    breaks: 'hints of zones',
    file: 'proxy/model/select-endpoints.js',
    find: 'facts.zoneHints.includes(zone)',
    replace: '!facts.zoneHints.includes(zone)',
    change: ['set', 'svc/web:trafficDistribution=PreferSameZone'],
  },
  {
    breaks: 'who sets hints',
    file: 'controllers/endpoint-slice/topology-hints.js',
    find: 'PreferSameZone',
    replace: 'PreferOtherZone',
    change: ['set', 'svc/web:trafficDistribution=PreferSameZone'],
  },
  {
    breaks: 'that endpoints must be ready',
    file: 'proxy/model/select-endpoints.js',
    find: 'const isReady = ({ facts }) => facts.isReady;',
    replace: 'const isReady = () => true;',
    change: ['unready', 'pod/web-0'],
  },
  {
    breaks: 'names of Services',
    file: 'dns/cluster/find-rows.js',
    find: 'if (service === undefined)',
    replace: "if (service === undefined || service.name === 'web')",
    change: ['delete', 'svc/web'],
    of: names,
  },
  {
    breaks: 'that names have ready endpoints only',
    file: 'dns/cluster/facts.js',
    find: '.filter(({ conditions }) => isReady(conditions ?? {}))',
    replace: '',
    change: ['unready', 'pod/web-0'],
    of: names,
  },
  {
    breaks: 'that ReplicaSets make missing pods',
    file: 'controllers/replica-set/desired.js',
    find: 'if (missing > 0)',
    replace: 'if (missing > 1000)',
    change: ['drain', 'node/n1'],
  },
  {
    breaks: 'that nodes can be unschedulable',
    file: 'kinds/pod/node-selection.js',
    find: 'spec.unschedulable === true',
    replace: 'spec.unschedulable === 1',
    change: ['drain', 'node/n1'],
  },
  {
    breaks: 'node ports',
    file: 'proxy/model/service-ports.js',
    find: '...(port.nodePort ? { nodePort: port.nodePort } : {}),',
    replace: '',
    change: ['set', 'svc/web:type=NodePort'],
    of: ({ services }) => services.map((one) => one.entrances),
  },
];

async function ask(program: string, { change }: Mutation): Promise<WhatIf> {
  const { exampleWhatIf } = await loadFrom<typeof Example>(program, 'what-if/example.js');
  return exampleWhatIf(predictedWorld(), [change]);
}

for (const mutation of mutations) {
  test(`compareCluster() differs when the code breaks ${mutation.breaks}`, async (t) => {
    const mutant = makeMutant(mutation, folders);
    t.after(() => rmSync(mutant, { recursive: true, force: true }));
    const { of = views } = mutation;
    const right = of(await ask(rightProgram, mutation));
    const broken = of(await ask(mutant, mutation));
    assert.notDeepEqual(broken, right);
  });
}
