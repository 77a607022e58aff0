// Runs all scenarios side by side, stage by stage: each has names, addresses and ports of its own, so that none is in another's way. One
// after the other, with a process on each host, they take more than a quarter of an hour under emulation.
import { setTimeout as passed } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { type Cluster, startCluster } from './cluster.ts';
import { addressesOf, backendNames, makeLab, nodeNames, ownerOf } from './lab.ts';
import { type ProbeResult, type Programs, runPrograms } from './programs.ts';
import {
  type Observation,
  type Observations,
  type ProbeStep,
  type Scenario,
  type ScenarioObject,
  type Stage,
  stagesOf,
} from './recordings.ts';

/** As many as the recording runner makes where a step does not say. */
const defaultConnections = 24;
/** No response arrives after this time: much longer than a busy emulated machine takes. */
const silenceMs = 5000;
/** Looked at so often until it is as expected, like the recording runner: what follows a write may take a moment. */
const maxChecks = 8;
const checkIntervalMs = 250;
/** Scenarios at once. Some wait for nothing to happen, others keep the machine busy meanwhile. */
const sideBySide = 8;

type Running = { readonly cluster: Cluster; readonly programs: Programs };

/** What each got. */
export async function runScenarios(
  mode: string,
  scenarios: readonly Scenario[],
  expected: Observations,
): Promise<Observations> {
  const lab = await makeLab();
  const programs = runPrograms(lab);
  const backends = backendNames.map(programs.startBackend);
  const cluster = await startCluster(lab, mode);
  const running: Running = { cluster, programs };
  try {
    await Promise.all(backends);
    return await runStages(running, scenarios, expected);
  } finally {
    await programs.stop();
    await cluster.stop();
    await lab.release();
  }
}

async function runStages(
  running: Running,
  scenarios: readonly Scenario[],
  expected: Observations,
): Promise<Observations> {
  const plans = scenarios.map((scenario) => ({
    name: scenario.name,
    stages: stagesOf(scenario),
    got: [] as Observation[],
  }));
  const most = Math.max(...plans.map(({ stages }) => stages.length));
  for (let number = 0; number < most; number += 1) {
    const now = plans.flatMap(({ name, stages, got }) => {
      const stage = stages[number];
      return stage === undefined ? [] : [{ name, stage, got }];
    });
    await writeStages(
      running.cluster,
      now.map(({ stage }) => stage),
    );
    await settle(running, number);
    await eachOf(now, async ({ name, stage, got }) => {
      for (const step of stage.probes) {
        got.push(await observe(running.programs, step, expected[name]?.[got.length]));
      }
    });
  }
  return Object.fromEntries(plans.map(({ name, got }) => [name, got]));
}

async function eachOf<Item>(
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const waiting = [...items];
  const workOn = async (): Promise<void> => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: sideBySide }, workOn));
}

async function writeStages({ api }: Cluster, stages: readonly Stage[]): Promise<void> {
  const writes = stages.flatMap((stage) => stage.writes);
  const created = writes.flatMap(({ create = [] }) => create);
  // First who wants a certain port: it could be given to one who takes any.
  for (const object of [
    ...created.filter(wantsPort),
    ...created.filter((one) => !wantsPort(one)),
  ]) {
    const { status, ...rest } = object;
    const made = await api.post<ScenarioObject>(folderOf(object), rest);
    if (status !== undefined) await api.put(`${pathOf(object)}/status`, { ...made, status });
  }
  for (const object of writes.flatMap(({ replace = [] }) => replace)) {
    const before = await api.get<ScenarioObject>(pathOf(object));
    await api.put(pathOf(object), {
      ...object,
      metadata: { ...before.metadata, ...object.metadata },
    });
  }
  for (const object of writes.flatMap(({ remove = [] }) => remove)) {
    await api.delete(pathOf(object));
  }
}

function wantsPort({ spec }: ScenarioObject): boolean {
  const { healthCheckNodePort, ports = [] } = spec ?? {};
  return healthCheckNodePort !== undefined || ports.some(({ nodePort }) => nodePort !== undefined);
}

const folders = {
  Service: '/api/v1/namespaces/default/services',
  EndpointSlice: '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices',
} as const;
const folderOf = ({ kind }: ScenarioObject): string => folders[kind];
const pathOf = (object: ScenarioObject): string => `${folderOf(object)}/${object.metadata.name}`;

/**
 * Resolves when every proxy has written all changes of the API server so far. A Service made now is answered once the write that it is part
 * of has begun; one that is made after that, once that write has ended.
 */
async function settle(running: Running, number: number): Promise<void> {
  await markAnswers(running, `mark-${number}-begun`);
  await markAnswers(running, `mark-${number}-ended`);
}

async function markAnswers({ cluster, programs }: Running, name: string): Promise<void> {
  const { api, assertRunning } = cluster;
  const ports = [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 9376 }];
  const made = await api.post<{ readonly spec: { readonly clusterIPs: readonly string[] } }>(
    folders.Service,
    { kind: 'Service', metadata: { name }, spec: { ipFamilyPolicy: 'RequireDualStack', ports } },
  );
  for (const [at, address] of addressesOf('a1').entries()) {
    const addressType = at === 0 ? 'IPv4' : 'IPv6';
    await api.post(folders.EndpointSlice, {
      kind: 'EndpointSlice',
      metadata: {
        name: `${name}-${addressType.toLowerCase()}`,
        labels: { 'kubernetes.io/service-name': name },
      },
      addressType,
      ports: [{ name: 'http', protocol: 'TCP', port: 9376 }],
      endpoints: [{ addresses: [address], nodeName: 'n1', conditions: { ready: true } }],
    });
  }
  for (const from of nodeNames) {
    for (const host of made.spec.clusterIPs) {
      const order = { host, port: 80, n: 1, timeout: checkIntervalMs };
      while ((await programs.probe(from, order))[0]?.name !== 'a1') {
        assertRunning();
        await passed(checkIntervalMs);
      }
    }
  }
}

async function observe(
  programs: Programs,
  step: ProbeStep,
  wanted: Observation | undefined,
): Promise<Observation> {
  const { probe: from, n = defaultConnections, once: countsFirst = false } = step;
  for (let checks = 1; ; checks += 1) {
    const results = await programs.probe(from, { ...step, n, timeout: silenceMs });
    const seen = summarize(results, step);
    if (isDeepStrictEqual(seen, wanted) || countsFirst || checks === maxChecks) return seen;
    await passed(checkIntervalMs);
  }
}

/** Which backends, how the sender looked to them, and what failed. */
function summarize(results: readonly ProbeResult[], step: ProbeStep): Observation {
  const unique = (texts: readonly string[]): readonly string[] => [...new Set(texts)].sort();
  const answered = results.filter(({ error }) => error === undefined);
  const sourceOf = ({ peer = '' }: ProbeResult): string =>
    addressesOf(step.probe).includes(peer) ? 'client' : ownerOf(peer);
  return {
    backends: unique(answered.map(({ name = '', status }) => (status ? `http ${status}` : name))),
    sources: unique(answered.filter(({ name }) => name !== undefined).map(sourceOf)),
    errors: unique(results.flatMap(({ error }) => error ?? [])),
    ...(step.even === undefined ? {} : { even: isEven(results, step.even) }),
    ...(step.body ? { body: healthIn(results[0]?.body ?? '') } : {}),
  };
}

function isEven(results: readonly ProbeResult[], tolerance: number): boolean {
  const counts = new Map<string | undefined, number>();
  for (const { name } of results) counts.set(name, (counts.get(name) ?? 0) + 1);
  const mean = results.length / counts.size;
  return [...counts.values()].every((count) => Math.abs(count - mean) < mean * tolerance);
}

function healthIn(body: string): object | null {
  try {
    const { localEndpoints, service } = JSON.parse(body) as Record<string, unknown>;
    return { localEndpoints, service };
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}
