// How many values a body and an object may have: all that real clusters have, and no more, however it is sent and however
// many requests it is built by.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createLocalCall } from '../../../src/apiserver/local-call.ts';
import { configMapDefinition } from '../../../src/kinds/config-map/definition.ts';
import { toProtobuf } from '../../../src/schema/protobuf/encode.ts';
import { toEnvelope } from '../../../src/schema/protobuf/envelope.ts';
import { maxMembers } from '../../../src/schema/value-count.ts';
import { type MemoryServer, startMemoryServer } from '../harness/memory-server.ts';

type Fields = Readonly<Record<string, unknown>>;
type Answer = { readonly status: number; readonly object: Fields };

let memory: MemoryServer;
let call: ReturnType<typeof createLocalCall>;

before(async () => {
  memory = await startMemoryServer();
  call = createLocalCall(memory.server.handle, { user: 'admin', groups: ['system:masters'] });
});
after(() => memory.stop());

async function send(
  method: string,
  path: string,
  body?: unknown,
  type = 'application/json',
): Promise<Answer> {
  const isText = typeof body === 'string' || body instanceof Uint8Array;
  const bytes = body === undefined ? '' : isText ? body : JSON.stringify(body);
  const answer = await call({ method, path, headers: { 'content-type': type }, body: bytes });
  const chunks: Uint8Array[] = [];
  for await (const chunk of answer.body) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString('utf8');
  return { status: answer.status, object: JSON.parse(text) as Fields };
}

const items = <T>(count: number, make: (n: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, n) => make(n));
const address = (n: number): string => `10.1.${n >> 8}.${n & 255}`;
const targetRef = (n: number): Fields => ({
  kind: 'Pod',
  namespace: 'default',
  name: `web-${n}`,
  uid: `00000000-0000-0000-0000-${n}`,
});
const keys = (count: number, from = 0): Fields =>
  Object.fromEntries(items(count, (n) => [`k${from + n}`, 'x']));
const configMaps = '/api/v1/namespaces/default/configmaps';
const configMap = (name: string, data: Fields): Fields => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data,
});

describe('what real clusters have is taken, and may be sent back as it was read', () => {
  const objects: Readonly<Record<string, readonly [path: string, object: Fields]>> = {
    'Endpoints of 5,000 addresses': [
      '/api/v1/namespaces/default/endpoints',
      {
        metadata: { name: 'large' },
        subsets: [
          {
            addresses: items(5_000, (n) => ({
              ip: address(n),
              nodeName: `node-${n % 100}`,
              targetRef: targetRef(n),
            })),
            ports: items(3, (n) => ({ name: `p${n}`, port: 80 + n })),
          },
        ],
      },
    ],
    'an EndpointSlice of 1,000 endpoints with 100 ports': [
      '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices',
      {
        metadata: { name: 'large' },
        addressType: 'IPv4',
        endpoints: items(1_000, (n) => ({
          addresses: [address(n)],
          conditions: { ready: true, serving: true, terminating: false },
          nodeName: `node-${n % 100}`,
          zone: 'a',
          hints: { forZones: [{ name: 'a' }] },
          targetRef: targetRef(n),
        })),
        ports: items(100, (n) => ({ name: `p${n}`, port: 8000 + n, protocol: 'TCP' })),
      },
    ],
    'a ConfigMap of nearly 1 MiB in 10,000 keys': [
      configMaps,
      configMap('large', Object.fromEntries(items(maxMembers, (n) => [`k${n}`, 'x'.repeat(90)]))),
    ],
    'a Role of 1,000 rules': [
      '/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles',
      {
        metadata: { name: 'large' },
        rules: items(1_000, (n) => ({
          apiGroups: ['', 'apps'],
          resources: [`r${n}`],
          resourceNames: ['a', 'b', 'c'],
          verbs: ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'],
        })),
      },
    ],
  };
  for (const [what, [path, object]] of Object.entries(objects)) {
    it(what, async () => {
      const created = await send('POST', path, object);
      assert.equal(created.status, 201, JSON.stringify(created.object).slice(0, 300));
      const read = await send('GET', `${path}/large`);
      const written = await send('PUT', `${path}/large`, read.object);
      assert.equal(written.status, 200, JSON.stringify(written.object).slice(0, 300));
    });
  }
});

const tooManyMembers = (what: string): string =>
  `Request entity too large: a list or map of ${what} has more than ${maxMembers} members`;

describe('more is refused in every form', () => {
  const object = configMap('refused', keys(maxMembers + 2));
  const yaml = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: refused}\ndata:\n${Object.keys(
    object.data as Fields,
  )
    .map((key) => `  ${key}: x\n`)
    .join('')}`;
  const inProtobuf = (sent: Fields): Buffer =>
    toEnvelope({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      message: toProtobuf(configMapDefinition.schema, sent),
    });
  const protobuf = 'application/vnd.kubernetes.protobuf';
  const bodies: Readonly<Record<string, readonly [body: unknown, type: string]>> = {
    JSON: [object, 'application/json'],
    YAML: [yaml, 'application/yaml'],
    'JSON that is sent as YAML': [JSON.stringify(object), 'application/yaml'],
    protobuf: [inProtobuf(object), protobuf],
  };
  for (const [form, [body, type]] of Object.entries(bodies)) {
    it(form, async () => {
      const answer = await send('POST', configMaps, body, type);
      assert.equal(answer.object.message, tooManyMembers('it'));
      assert.equal(answer.status, 413);
    });
  }
  it('protobuf of a million empty fields', async () => {
    const message = Buffer.alloc(2_000_000, Buffer.from([0x12, 0x00]));
    const body = toEnvelope({ apiVersion: 'v1', kind: 'ConfigMap', message });
    const answer = await send('POST', configMaps, body, protobuf);
    assert.equal(
      answer.object.message,
      'Request entity too large: it holds more than 50000 values',
    );
    assert.equal(answer.status, 413);
  });
});

describe('many requests build no larger object than one', () => {
  const part = 4_000;
  const requests: Readonly<Record<string, (name: string, from: number) => Promise<Answer>>> = {
    'merge patches': (name, from) =>
      send(
        'PATCH',
        `${configMaps}/${name}`,
        { data: keys(part, from) },
        'application/merge-patch+json',
      ),
    'strategic merge patches': (name, from) =>
      send(
        'PATCH',
        `${configMaps}/${name}`,
        { data: keys(part, from) },
        'application/strategic-merge-patch+json',
      ),
    'JSON patches': (name, from) =>
      send(
        'PATCH',
        `${configMaps}/${name}`,
        items(part, (n) => ({ op: 'add', path: `/data/k${from + n}`, value: 'x' })),
        'application/json-patch+json',
      ),
    'applies of several managers': (name, from) =>
      send(
        'PATCH',
        `${configMaps}/${name}?fieldManager=m${from}`,
        configMap(name, keys(part, from)),
        'application/apply-patch+yaml',
      ),
  };
  for (const [form, request] of Object.entries(requests)) {
    it(form, async () => {
      const name = form.replaceAll(' ', '-').toLowerCase();
      await send('POST', configMaps, configMap(name, { a: 'b' }));
      for (const from of [0, part]) {
        const { status, object } = await request(name, from);
        assert.equal(status, 200, JSON.stringify(object).slice(0, 300));
      }
      const { object: kept } = await send('GET', `${configMaps}/${name}`);
      const { status, object } = await request(name, 2 * part);
      assert.equal(object.message, tooManyMembers('the object'));
      assert.equal(status, 413);
      assert.deepEqual((await send('GET', `${configMaps}/${name}`)).object, kept);
    });
  }

  it('copies of a JSON patch', async () => {
    await send('POST', configMaps, configMap('copied', { a: 'b' }));
    const copies = items(9_000, (n) => ({ op: 'copy', from: '/data', path: `/x${n}` }));
    const grown = items(20, (n) => ({ op: 'add', path: `/data/k${n}`, value: 'x' }));
    const { status, object } = await send(
      'PATCH',
      `${configMaps}/copied`,
      [...grown, ...copies],
      'application/json-patch+json',
    );
    assert.equal(
      object.message,
      'Request entity too large: the object holds more than 50000 values',
    );
    assert.equal(status, 413);
  });
});

describe('work that grows faster than the request is refused', () => {
  const pods = '/api/v1/namespaces/default/pods';
  const strategic = 'application/strategic-merge-patch+json';
  const container = (fields: Fields): Fields => ({ name: 'a', image: 'b', ...fields });
  const attacks: Readonly<Record<string, (n: number) => Fields>> = {
    'a list of one item': () => container({ env: [{ name: 'x', value: 'y' }] }),
    'a map of one item': (n) =>
      container({ resources: { limits: n === 0 ? keys(2_000) : { x: '1' } } }),
  };
  for (const [name, change] of Object.entries(attacks)) {
    it(`a strategic patch that changes ${name} again and again`, async () => {
      const pod = {
        metadata: { generateName: 'named-' },
        spec: { containers: [container({ env: items(2_000, (n) => ({ name: `e${n}` })) })] },
      };
      const created = await send('POST', pods, pod);
      assert.equal(created.status, 201);
      const { name } = created.object.metadata as { readonly name: string };
      const patch = { spec: { containers: items(700, change) } };
      const { status, object } = await send('PATCH', `${pods}/${name}`, patch, strategic);
      assert.equal(status, 413);
      assert.match(
        String(object.message),
        /^Request entity too large: handling it takes more than \d+ steps, send less in one request$/,
      );
    });
  }
});
