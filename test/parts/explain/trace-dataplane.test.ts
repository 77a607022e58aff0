// What was recorded of connections is what a trace predicts, in every mode: pure, over snapshots of the objects of each scenario.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { defaultSlice } from '../../../src/kinds/endpoint-slice/prepare.ts';
import type { EndpointSlice } from '../../../src/kinds/endpoint-slice/types.ts';
import type { Node } from '../../../src/kinds/node/types.ts';
import { examplePod } from '../../../src/kinds/pod/example.ts';
import { completeStoredService } from '../../../src/kinds/service/complete-stored.ts';
import { defaultService } from '../../../src/kinds/service/defaults.ts';
import type { Service } from '../../../src/kinds/service/types.ts';
import type { ServiceCIDR } from '../../../src/kinds/service-cidr/types.ts';
import { zoneLabel } from '../../../src/meta/well-known-labels.ts';
import { loadAllModes } from '../../../src/proxy/modes/all.ts';
import { clusterSettings } from '../../../src/snapshot/cluster-settings.ts';
import { indexSnapshot } from '../../../src/snapshot/index-snapshot.ts';
import { makeSnapshot } from '../../../src/snapshot/snapshot.ts';
import type { TracedMode } from '../../../src/trace/node-rules.ts';
import { parseSource, parseTarget } from '../../../src/trace/parse-target.ts';
import type { EndpointHop, Trace } from '../../../src/trace/trace.ts';
import { traceConnection } from '../../../src/trace/trace-connection.ts';
import {
  type Observation,
  type Observations,
  type ProbeStep,
  readRecording,
  readScenarios,
  type Scenario,
  type ScenarioObject,
} from '../../vm/scenarios/recordings.ts';

const pods: Readonly<Record<string, string>> = {
  ...{ a1: 'n1', a2: 'n1', c1: 'n1' },
  ...{ a3: 'n2', a4: 'n2', c2: 'n2' },
};
const addresses: Readonly<Record<string, readonly [string, string]>> = {
  a1: ['10.244.1.11', 'fd44:1::11'],
  a2: ['10.244.1.12', 'fd44:1::12'],
  c1: ['10.244.1.50', 'fd44:1::50'],
  a3: ['10.244.2.13', 'fd44:2::13'],
  a4: ['10.244.2.14', 'fd44:2::14'],
  c2: ['10.244.2.50', 'fd44:2::50'],
  n1: ['10.20.0.11', 'fd20::11'],
  n2: ['10.20.0.12', 'fd20::12'],
  ext: ['10.20.0.100', 'fd20::100'],
  ext2: ['10.20.0.101', 'fd20::101'],
};
const root = fileURLToPath(new URL('../../../../', import.meta.url));

const nodes = [1, 2].map(
  (n) =>
    ({
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: `n${n}`, labels: { [zoneLabel]: n === 1 ? 'zone-a' : 'zone-b' } },
      spec: { podCIDR: `10.244.${n}.0/24`, podCIDRs: [`10.244.${n}.0/24`, `fd44:${n}::/64`] },
      status: {
        addresses: (addresses[`n${n}`] ?? []).map((address) => ({ type: 'InternalIP', address })),
      },
    }) as unknown as Node,
);
const podObjects = Object.entries(pods).map(([name, nodeName]) =>
  examplePod({
    metadata: { name },
    spec: { nodeName },
    status: { phase: 'Running', podIPs: (addresses[name] ?? []).map((ip) => ({ ip })) },
  }),
);
const ranges: ServiceCIDR = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'ServiceCIDR',
  metadata: { name: 'kubernetes' },
  spec: { cidrs: ['10.96.0.0/16', 'fd00:96::/108'] },
  status: {},
};

type Objects = ReadonlyMap<string, ScenarioObject>;

/** As the API server stores it. */
function stored(object: ScenarioObject): Service | EndpointSlice {
  const metadata = { ...object.metadata, namespace: 'default' };
  if (object.kind === 'EndpointSlice') {
    return defaultSlice({ ...object, metadata } as unknown as EndpointSlice);
  }
  const given = { status: { loadBalancer: {} }, ...object, metadata } as unknown as Service;
  return defaultService(completeStoredService(given, ['IPv4', 'IPv6']));
}

function predict(objects: Objects, step: ProbeStep, mode: TracedMode): Trace {
  const all = [...objects.values()].map(stored);
  const index = indexSnapshot(
    makeSnapshot({
      objects: {
        ...{ nodes, pods: podObjects, serviceCIDRs: [ranges] },
        services: all.filter((one): one is Service => one.kind === 'Service'),
        endpointSlices: all.filter((one): one is EndpointSlice => one.kind === 'EndpointSlice'),
      },
    }),
  );
  const [v4, v6] = addresses[step.probe] ?? [];
  const isOutside = step.probe.startsWith('ext');
  const outside = `outside=${step.host.includes(':') ? v6 : v4}`;
  const from = parseSource(
    isOutside ? outside : `${step.probe in pods ? 'pod' : 'node'}/${step.probe}`,
  );
  const text = step.host.includes(':')
    ? `[${step.host}]:${step.port}`
    : `${step.host}:${step.port}`;
  const target = parseTarget(text);
  if ('error' in from || 'error' in target) throw new Error('a probe that cannot be asked');
  const traced = traceConnection(
    index,
    {
      ...{ text, target: target.value, from: from.value, namespace: 'default' },
      protocol: step.proto === 'udp' ? 'UDP' : 'TCP',
      // Outside clients have their default route there.
      ...(isOutside ? { via: 'n1' } : {}),
    },
    {
      settings: clusterSettings(index, { clusterCidr: ['10.244.0.0/16', 'fd44::/16'] }),
      mode,
    },
  );
  if ('error' in traced) throw new Error(traced.error);
  return traced.value;
}

/** What a probe observes of what was predicted. */
function observed(trace: Trace, { probe }: ProbeStep): Observation {
  const [path] = trace.paths;
  const used = (path?.endpoints ?? []).filter(({ chance }) => chance > 0);
  const name = ({ address }: EndpointHop): string =>
    Object.entries(addresses).find(([, own]) => own.includes(address))?.[0] ?? address;
  const sender = ({ sender, node }: EndpointHop): string => {
    if (sender?.kind === 'client') return 'client';
    // A node uses its own address towards others, and that of the pod network towards its pods.
    const decides = path?.nodes.length === 1 ? nodeOf(trace) : '';
    return sender?.address !== undefined && probe === decides && node !== decides
      ? 'client'
      : decides;
  };
  return {
    backends: [...new Set(used.map(name))].sort(),
    sources: [...new Set(used.map(sender))].sort(),
    errors: errorsOf(trace),
  };
}

/** The node whose rules decide: that of the address, or that of the client. */
function nodeOf({ paths: [path] }: Trace): string {
  const owner = Object.entries(addresses).find(([, own]) => own.includes(path?.address ?? ''))?.[0];
  return owner ?? path?.nodes[0] ?? '';
}

function errorsOf({ verdict }: Trace): readonly string[] {
  const kind = verdict.kind === 'not-for-a-service' ? verdict.otherwise : verdict.kind;
  return kind === 'refused' ? ['refused'] : kind === 'dropped' ? ['timeout'] : [];
}

function assertPredicts(trace: Trace, recorded: Observation, step: ProbeStep): void {
  const predicted = observed(trace, step);
  if (recorded.body !== undefined) {
    const { entrance, outcome } = trace.paths[0] ?? {};
    assert.equal(entrance?.kind, 'health-check');
    assert.equal(outcome?.kind, 'answered');
    const code = recorded.backends[0]?.replace('http ', '') ?? '';
    const { localEndpoints } = recorded.body as { readonly localEndpoints: number };
    assert.match(
      entrance?.sentence ?? '',
      new RegExp(`answers ${code}, with ${localEndpoints} local`),
    );
    return;
  }
  const isSticky = trace.paths[0]?.policy?.affinitySeconds !== undefined;
  // Which endpoint a client has from before, no object says.
  if (isSticky && recorded.backends.length === 1) {
    assert.ok(predicted.backends.includes(recorded.backends[0] ?? ''), JSON.stringify(predicted));
    assert.deepEqual([predicted.errors, recorded.errors], [[], []]);
    return;
  }
  const { backends, sources, errors } = recorded;
  assert.deepEqual(predicted, { backends, sources, errors }, trace.verdict.sentence);
}

/** Where Fairlead's mode does otherwise than upstream's on purpose: test/vm/dataplane.test.ts has the reasons. */
const asInNftables: ReadonlySet<string> = new Set([
  'internal-policy/Local with no endpoint on the node',
  'external-ip/external policy Local',
  'load-balancer/external policy Local keeps the source',
]);

/** What a mode answers by its nature stands beside the tests of traffic. */
function recordingOf(mode: string): Observations {
  const own = join(root, 'test', 'netns', 'expected', `${mode}.json`);
  if (existsSync(own)) return JSON.parse(readFileSync(own, 'utf8')) as Observations;
  const recorded = readRecording(mode);
  if (mode !== 'ipvs') return recorded;
  const others = Object.entries(readRecording('nftables')).filter(([name]) =>
    asInNftables.has(name),
  );
  return { ...recorded, ...Object.fromEntries(others) };
}

function keyOf({ kind, metadata }: ScenarioObject): string {
  return `${kind}/${metadata.name}`;
}

function runScenario({ name, steps }: Scenario, mode: TracedMode, recording: Observations): number {
  const objects = new Map<string, ScenarioObject>();
  let probes = 0;
  for (const step of steps) {
    if ('wait' in step) continue;
    if ('probe' in step) {
      const recorded = recording[name]?.[probes];
      assert.ok(recorded, `nothing is recorded for probe ${probes}`);
      assertPredicts(predict(objects, step, mode), recorded, step);
      probes += 1;
      continue;
    }
    for (const one of step.create ?? []) objects.set(keyOf(one), one);
    for (const one of step.replace ?? []) {
      const before = objects.get(keyOf(one));
      objects.set(keyOf(one), {
        ...before,
        ...one,
        metadata: { ...before?.metadata, ...one.metadata },
      });
    }
    for (const one of step.remove ?? []) objects.delete(keyOf(one));
  }
  return probes;
}

const scenarios = await readScenarios();
for (const mode of await loadAllModes()) {
  const recording = recordingOf(mode.name);
  for (const scenario of scenarios) {
    test(`traceConnection() predicts in ${mode.name} mode: ${scenario.name}`, () => {
      assert.ok(runScenario(scenario, mode, recording) > 0);
    });
  }
}
