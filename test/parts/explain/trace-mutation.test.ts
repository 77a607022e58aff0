// A trace decides nothing by itself: where a rule of the proxy, the DNS or the node agent is broken, the trace says what is then so.
// Each mutant is a copy of the compiled program, by links, with one file changed.
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { test } from 'node:test';
import type { Mode } from '../../../src/proxy/modes/mode.ts';
import type * as Settings from '../../../src/snapshot/cluster-settings.ts';
import type * as Index from '../../../src/snapshot/index-snapshot.ts';
import type * as Snapshots from '../../../src/snapshot/snapshot.ts';
import type * as Targets from '../../../src/trace/parse-target.ts';
import type { Trace } from '../../../src/trace/trace.ts';
import type * as Connection from '../../../src/trace/trace-connection.ts';
import { type Edit, loadFrom, makeMutant, rightProgram } from './mutants.ts';
import { tracedWorld } from './traced-world.ts';

const needed = [
  'ip',
  'schema',
  'meta',
  'kinds',
  'host',
  'observe',
  'client',
  'proxy',
  'dns',
  'node',
];
const folders = [...needed, 'controllers', 'snapshot', 'trace'];

type Question = { readonly target: string; readonly from: string };
type Mutation = Edit & {
  readonly breaks: string;
  readonly question: Question;
  /** What of the trace must differ. */
  readonly of: (trace: Trace) => unknown;
};

const verdict = (trace: Trace): string => trace.verdict.kind;
const chances = (trace: Trace) =>
  trace.paths.map(({ endpoints }) => endpoints?.map(({ address, chance }) => [address, chance]));
const senders = (trace: Trace) =>
  trace.paths.map(({ endpoints }) => endpoints?.map(({ sender }) => sender?.kind));
const queries = (trace: Trace) => trace.name?.queries.map(({ name, answer }) => [name, answer]);

const mutations: readonly Mutation[] = [
  {
    breaks: 'that policy Local keeps to the node',
    file: 'proxy/model/select-endpoints.js',
    find: 'entries.filter(({ isLocal }) => isLocal)',
    replace: 'entries',
    question: { target: 'svc/local', from: 'pod/client' },
    of: verdict,
  },
  {
    breaks: 'that a Service without endpoints refuses',
    file: 'proxy/packets/reference-model.js',
    find: "verdict: reject, why: 'no-endpoints'",
    replace: "verdict: drop, why: 'no-endpoints'",
    question: { target: 'svc/empty', from: 'pod/client' },
    of: verdict,
  },
  {
    breaks: 'hairpin',
    file: 'proxy/packets/reference-model.js',
    find: "endpointIP === source ? 'hairpin' : undefined",
    replace: 'undefined',
    question: { target: 'svc/self', from: 'pod/client' },
    of: senders,
  },
  {
    breaks: 'that endpoints must be ready',
    file: 'proxy/model/select-endpoints.js',
    find: 'const isReady = ({ facts }) => facts.isReady;',
    replace: 'const isReady = () => true;',
    question: { target: 'svc/web', from: 'pod/client' },
    of: chances,
  },
  {
    breaks: 'hints of zones',
    file: 'proxy/model/select-endpoints.js',
    find: 'facts.zoneHints.includes(zone)',
    replace: '!facts.zoneHints.includes(zone)',
    question: { target: 'svc/hinted', from: 'pod/client' },
    of: chances,
  },
  {
    breaks: 'ipMode',
    file: 'proxy/model/service-ports.js',
    find: "return ipMode === undefined || ipMode === 'VIP';",
    replace: 'return true;',
    question: { target: '192.0.2.9:80', from: 'pod/client' },
    of: verdict,
  },
  {
    breaks: 'who owns an address',
    file: 'kinds/service/address-owners.js',
    find: 'if (node !== undefined)',
    replace: 'if (false)',
    question: { target: '10.20.0.12:80', from: 'pod/client' },
    of: verdict,
  },
  {
    breaks: 'names of Services',
    file: 'dns/cluster/find-rows.js',
    find: 'if (service === undefined)',
    replace: 'if (service !== undefined)',
    question: { target: 'web:80', from: 'pod/client' },
    of: verdict,
  },
  {
    breaks: 'that names have ready endpoints only',
    file: 'dns/cluster/facts.js',
    find: '.filter(({ conditions }) => isReady(conditions ?? {}))',
    replace: '',
    question: { target: 'db:5432', from: 'pod/client' },
    of: (trace) => trace.name?.used?.addresses,
  },
  {
    breaks: 'the search list',
    file: 'node/environment/resolver-config.js',
    find: 'searches: unique([...searches, ...host.searches])',
    replace: 'searches: []',
    question: { target: 'web:80', from: 'pod/client' },
    of: queries,
  },
];

const world = tracedWorld();

async function ask(folder: string, { target, from }: Question): Promise<Trace> {
  const load = <T>(file: string): Promise<T> => loadFrom<T>(folder, file);
  const { indexSnapshot } = await load<typeof Index>('snapshot/index-snapshot.js');
  const { makeSnapshot } = await load<typeof Snapshots>('snapshot/snapshot.js');
  const { clusterSettings } = await load<typeof Settings>('snapshot/cluster-settings.js');
  const { parseTarget, parseSource } = await load<typeof Targets>('trace/parse-target.js');
  const { traceConnection } = await load<typeof Connection>('trace/trace-connection.js');
  const { nftables } = await load<{ readonly nftables: Mode }>('proxy/modes/nftables/mode.js');
  const index = indexSnapshot(makeSnapshot({ objects: world }));
  const [to, start] = [parseTarget(target), parseSource(from)];
  assert.ok('value' in to && 'value' in start);
  const traced = traceConnection(
    index,
    { text: target, target: to.value, from: start.value, namespace: 'default' },
    { settings: clusterSettings(index), mode: nftables },
  );
  assert.ok('value' in traced, JSON.stringify(traced));
  return traced.value;
}

for (const mutation of mutations) {
  test(`traceConnection() differs when the code breaks ${mutation.breaks}`, async (t) => {
    const folder = makeMutant(mutation, folders);
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const right = mutation.of(await ask(rightProgram, mutation.question));
    const broken = mutation.of(await ask(folder, mutation.question));
    assert.notDeepEqual(broken, right);
  });
}
