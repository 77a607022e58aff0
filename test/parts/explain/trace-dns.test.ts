// What was recorded of DNS answers is what a trace predicts: pure, over a snapshot of the recorded world.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { wireName } from '../../../src/dns/wire/names.ts';
import type { RecordText } from '../../../src/dns/wire/record-text.ts';
import { types } from '../../../src/dns/wire/record-types.ts';
import type { EndpointSlice } from '../../../src/kinds/endpoint-slice/types.ts';
import type { Namespace } from '../../../src/kinds/namespace/types.ts';
import { defaultService } from '../../../src/kinds/service/defaults.ts';
import type { Service } from '../../../src/kinds/service/types.ts';
import { indexSnapshot, type SnapshotIndex } from '../../../src/snapshot/index-snapshot.ts';
import { makeSnapshot } from '../../../src/snapshot/snapshot.ts';
import { answerQuestion } from '../../../src/trace/answer-question.ts';
import { resolveName } from '../../../src/trace/name-hop.ts';
import { zoneOf } from '../../../src/trace/snapshot-zone.ts';

const folder = fileURLToPath(new URL('../../../../test/conformance/dns/', import.meta.url));
const load = (file: string) => import(pathToFileURL(join(folder, file)).href);

type Question = {
  readonly name: string;
  readonly type: keyof typeof types;
  readonly tcp?: true;
  readonly edns?: number;
};
type Recorded = {
  readonly rcode: string;
  readonly tc?: true;
  readonly answer?: readonly string[];
  readonly additional?: readonly string[];
};
type WorldObject = Service | EndpointSlice | Namespace;

const { objects } = (await load('world.mjs')) as { readonly objects: readonly WorldObject[] };
const { queries } = (await load('queries.mjs')) as { readonly queries: readonly Question[] };
const recording = JSON.parse(readFileSync(join(folder, 'expected.json'), 'utf8')) as Readonly<
  Record<string, Recorded>
>;
const domain = 'cluster.local';

/** The API server gives them addresses, and has Services of its own. */
function stored(service: Service): Service {
  const { clusterIP, clusterIPs } = service.spec;
  const given = clusterIPs ?? (clusterIP === undefined ? undefined : [clusterIP]);
  const spec = { ...service.spec, ...(given === undefined ? {} : { clusterIPs: given }) };
  return defaultService({ ...service, status: { loadBalancer: {} }, spec });
}

const kubernetes = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { namespace: 'default', name: 'kubernetes' },
  spec: {
    clusterIP: '10.96.0.1',
    ports: [{ name: 'https', port: 443, targetPort: 6443 }],
  },
} as unknown as Service;

function world(): SnapshotIndex {
  const of = <T extends WorldObject>(kind: string) =>
    objects.filter((one): one is T => one.kind === kind);
  const named = (name: string): Namespace => ({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name },
    spec: {},
    status: {},
  });
  return indexSnapshot(
    makeSnapshot({
      objects: {
        namespaces: [...of<Namespace>('Namespace'), named('default')],
        services: [...of<Service>('Service'), kubernetes].map(stored),
        endpointSlices: of<EndpointSlice>('EndpointSlice'),
      },
    }),
  );
}

const index = world();

/** With a TTL in tens, as recorded ones count down; IPv6 as the recording writes it. */
function line({ name, type, ttl, data }: RecordText): string {
  const text = type === 'AAAA' ? expanded(data) : data;
  return `${name} ${Math.ceil(ttl / 10) * 10} ${type} ${text}`;
}

function expanded(address: string): string {
  const [before = '', after] = address.split('::');
  const groups = (part: string): string[] => (part === '' ? [] : part.split(':'));
  const zeros = after === undefined ? 0 : 8 - groups(before).length - groups(after).length;
  return [...groups(before), ...Array<string>(zeros).fill('0'), ...groups(after ?? '')]
    .map((group) => group.padStart(4, '0'))
    .join(':');
}

const labelOf = ({ name, type, tcp, edns }: Question): string =>
  `${name} ${type}${tcp ? ' tcp' : ''}${edns ? ` edns${edns}` : ''}`;

/** What is said of names that other servers answer for: which they are, and what leads to them. */
function isForwarded(recorded: Recorded, name: string): boolean {
  return !name.endsWith(domain) || (recorded.answer ?? []).some((one) => !isOfCluster(one));
}

const isOfCluster = (text: string): boolean => (text.split(' ')[0] ?? '').endsWith(`${domain}.`);

const questions = queries.filter((one) => labelOf(one) in recording);

test('traceConnection() knows every recorded question', () => {
  assert.equal(questions.length, Object.keys(recording).length);
  assert.ok(questions.length >= 103, `${questions.length} questions`);
});

for (const question of questions) {
  const label = labelOf(question);
  test(`answerQuestion() predicts ${label}`, () => {
    const recorded = recording[label] as Recorded;
    const name = wireName(question.name) ?? '';
    const udpSize = question.tcp ? 65_535 : (question.edns ?? 512);
    const answered = answerQuestion(
      zoneOf(index),
      { name, type: types[question.type] },
      { domain, udpSize },
    );
    if (answered.rcode === 'outside') {
      assert.ok(isForwarded(recorded, question.name), JSON.stringify(recorded));
      return;
    }
    assert.equal(answered.rcode, recorded.rcode);
    assert.equal(answered.isTruncated, recorded.tc ?? false);
    if (recorded.tc) return;
    const own = (recorded.answer ?? []).filter(
      (text) => answered.continuesAt.length === 0 || isOfCluster(text),
    );
    assert.deepEqual(answered.answers.map(line).sort(), own);
    assert.deepEqual(answered.additionals.map(line).sort(), recorded.additional);
  });
}

const absolute = {
  source: {
    kind: 'pod',
    hosts: '',
    usesClusterDns: true,
    resolver: {
      nameservers: ['10.96.0.10'],
      searches: [],
      options: [],
      ndots: 5,
      source: 'dnsPolicy ClusterFirst',
      warnings: [],
    },
  },
  domain,
} as const;

for (const question of questions.filter(({ type }) => type === 'A' || type === 'AAAA')) {
  const label = labelOf(question);
  test(`resolveName() finds what was recorded for ${label}`, () => {
    const recorded = recording[label] as Recorded;
    if (isForwarded(recorded, question.name) || recorded.tc) return;
    const hop = resolveName(index, `${question.name}.`, absolute);
    const query = hop.queries.find(({ type }) => type === question.type);
    assert.deepEqual(query?.records.map(line).sort(), recorded.answer);
    const expected =
      recorded.rcode === 'NXDOMAIN'
        ? 'no-such-name'
        : recorded.answer?.length === 0
          ? 'no-data'
          : 'records';
    assert.equal(query?.answer, expected);
  });
}
