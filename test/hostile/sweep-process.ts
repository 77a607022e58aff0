// Sends large objects of every kind to a server in this process, and prints what kept the event loop to itself for longer
// than it may: node sweep-process.js '{"scale":1,"maxMs":50}'. By hand, `fields` and `requests` narrow it down.
import { toYaml } from '../../src/apiserver/encode/yaml.ts';
import { createLocalCall } from '../../src/apiserver/local-call.ts';
import { groupVersion } from '../../src/meta/object.ts';
import { toProtobuf } from '../../src/schema/protobuf/encode.ts';
import { toEnvelope } from '../../src/schema/protobuf/envelope.ts';
import { startMemoryServer } from '../parts/harness/memory-server.ts';
import { type LargeObject, largeObjects } from './large-objects.ts';
import { measureMainThread } from './measure-main-thread.ts';

export type SweepPlan = {
  /** Part of what the limits of bodies allow. */
  readonly scale: number;
  /** CPU time of the main thread in one go. */
  readonly maxMs: number;
  /** Expressions: which fields (`Service.spec.ports distinct items`), and which requests (`create`). */
  readonly fields?: string;
  readonly requests?: string;
  /** Every field by some requests, every request for some fields, instead of all by all. */
  readonly isSampled?: boolean;
};
export type SweepReport = { readonly slow: readonly string[]; readonly sent: number };

type Request = {
  readonly method: string;
  readonly path: string;
  readonly type?: string;
  readonly accept?: string;
  readonly body?: Buffer;
};

const {
  scale,
  maxMs,
  fields = '',
  requests = '',
  isSampled = false,
} = JSON.parse(process.argv[2] ?? '{}') as SweepPlan;
const [wantedFields, wantedRequests] = [new RegExp(fields), new RegExp(requests)];
const { server } = await startMemoryServer();
const call = createLocalCall(server.handle, { user: 'admin', groups: ['system:masters'] });
const meter = measureMainThread();
const slow: string[] = [];
let sent = 0;
/** Of fields, so that samples take other requests each time. */
let count = 0;

/** For each field that is a kind's own. */
const alwaysSent = new Set(['create', 'apply', 'remove']);
const wholeKinds = new Set(['Service', 'Node']);
const protobuf = 'application/vnd.kubernetes.protobuf';

for (const large of largeObjects(scale)) {
  const title = `${large.kind.kind}.${large.field} ${large.form}`;
  if (wantedFields.test(title)) await sweep(title, large);
}
process.stdout.write(JSON.stringify({ slow, sent } satisfies SweepReport));
process.exit(0);

async function sweep(title: string, large: LargeObject): Promise<void> {
  const all = requestsFor(large);
  const names = isSampled ? sampleOf(large, Object.keys(all)) : Object.keys(all);
  for (const name of names) {
    // Made only where it is sent: protobuf has no form for a text that is not a time or quantity.
    const request = wantedRequests.test(name) ? all[name]?.() : undefined;
    if (request === undefined) continue;
    const { status, ms } = await send(request);
    sent += 1;
    if (status >= 500) slow.push(`${title}: ${name} answered ${status}`);
    if (ms > maxMs) slow.push(`${title}: ${name} took ${Math.round(ms)} ms (${status})`);
  }
}

/**
 * Every field of every kind is created and applied, and sent or read in one more way. What all kinds have by the same code
 * is sent whole for two of them.
 */
function sampleOf({ kind, field, form }: LargeObject, names: readonly string[]): readonly string[] {
  count += 1;
  const others = names.filter((name) => !alwaysSent.has(name));
  const another = others[count % others.length] ?? '';
  const isShared = field.startsWith('metadata.') && !wholeKinds.has(kind.kind);
  if (isShared) return [count % 2 === 0 ? 'create' : 'apply', 'remove'];
  if (form === 'equal items') return ['create', 'remove'];
  return ['create', another, 'apply', 'remove'];
}

async function send({ method, path, type, accept, body }: Request) {
  const headers = {
    'content-type': type ?? 'application/json',
    ...(accept === undefined ? {} : { accept }),
  };
  await settled();
  meter.maxMs();
  const answer = await call({ method, path, headers, body: body ?? Buffer.alloc(0) });
  for await (const _chunk of answer.body);
  await settled();
  return { status: answer.status, ms: meter.maxMs() };
}

/** What earlier requests left to do is done, and does not count. */
async function settled(): Promise<void> {
  for (let i = 0; i < 2; i += 1) await new Promise((resolve) => setImmediate(resolve));
}

function requestsFor({
  kind,
  make,
  pointer,
}: LargeObject): Readonly<Record<string, () => Request>> {
  const root = kind.group === '' ? '/api' : `/apis/${kind.group}`;
  const inNamespace = kind.namespaced ? '/namespaces/default' : '';
  const all = `${root}/${kind.version}${inNamespace}/${kind.plural}`;
  const { object, value } = make();
  const { name = '' } = object.metadata as { readonly name?: string };
  // A name that is the large field is in no path.
  const one = `${all}/${name.length > 253 ? 'large' : name}`;
  const body = Buffer.from(JSON.stringify(object));
  const patched = (form: string, patch: unknown) => () => ({
    method: 'PATCH',
    path: one,
    type: `application/${form}`,
    body: Buffer.from(JSON.stringify(patch)),
  });
  const read = (path: string, accept: string) => () => ({ method: 'GET', path, accept });
  const applied = { method: 'PATCH', path: `${one}?fieldManager=m&force=true` };
  const written = { method: 'PUT', path: one };
  return {
    dryRun: () => ({ method: 'POST', path: `${all}?dryRun=All`, body }),
    create: () => ({ method: 'POST', path: all, body }),
    update: () => ({ ...written, body }),
    updateByYaml: () => ({
      ...written,
      type: 'application/yaml',
      body: Buffer.from(toYaml(object)),
    }),
    updateByProtobuf: () => ({ ...written, type: protobuf, body: protobufOf(kind, object) }),
    merge: patched('merge-patch+json', insertAt(pointer, value)),
    strategic: patched('strategic-merge-patch+json', insertAt(pointer, value)),
    jsonPatch: patched('json-patch+json', [{ op: 'add', path: pointer, value }]),
    apply: () => ({ ...applied, type: 'application/apply-patch+yaml', body }),
    status: () => ({ method: 'PUT', path: `${one}/status`, body }),
    table: read(all, 'application/json;as=Table;v=v1;g=meta.k8s.io'),
    yaml: read(one, 'application/yaml'),
    protobuf: read(one, protobuf),
    remove: () => ({ method: 'DELETE', path: `${one}?gracePeriodSeconds=0` }),
  };
}

function protobufOf({ group, version, kind, schema }: LargeObject['kind'], object: object): Buffer {
  const message = toProtobuf(schema, object as Readonly<Record<string, unknown>>);
  return toEnvelope({ apiVersion: groupVersion(group, version), kind, message });
}

/** The value at the end of the pointer, with what is around it. */
function insertAt(pointer: string, value: unknown): unknown {
  const keys = pointer.split('/').slice(1);
  return keys.reduceRight<unknown>(
    (inner, key) => (key === '0' ? [inner] : { [key]: inner }),
    value,
  );
}
