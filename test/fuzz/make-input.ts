// Draws one request: mostly something a client could have meant, wrong in one or a few places.

import { stringify } from 'yaml';
import { defaultLimits } from '../../src/apiserver/limits/limits.ts';
import { reviewKinds } from '../../src/apiserver/reviews/all.ts';
import { allKinds } from '../../src/kinds/all.ts';
import { groupResource, groupVersion } from '../../src/meta/object.ts';
import type { StructNode } from '../../src/schema/node.ts';
import { toProtobuf } from '../../src/schema/protobuf/encode.ts';
import { toEnvelope } from '../../src/schema/protobuf/envelope.ts';
import { exampleOf, fullValues } from '../../src/schema/protobuf/example.ts';
import type { Random } from '../parts/harness/random.ts';
import { drawHeaders, drawQuery } from './draw-parts.ts';
import type { Input } from './input.ts';
import { mutateBytes, mutateText, mutateValue, oddValues } from './mutate.ts';
import { deleteBody, seedObjects, subresourceBodies } from './seed-objects.ts';

export const fuzzNamespace = 'fuzz';

type Fields = Readonly<Record<string, unknown>>;
type Target = {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  readonly schema: StructNode;
  readonly subresources?: readonly { readonly name: string }[];
};

const targets = [...allKinds, ...reviewKinds] as unknown as readonly [Target, ...Target[]];

/** Few, so that requests meet what others made. */
const names: readonly [string, ...string[]] = ['a', 'b', '10.96.0.99', 'fd00:96::99'];

export function makeInput(random: Random): Input {
  const target = random.pick(targets);
  const method = random.pick([
    ...(['POST', 'POST', 'POST', 'PUT', 'PUT', 'PATCH', 'PATCH', 'PATCH', 'PATCH'] as const),
    ...([
      'DELETE',
      'GET',
      'GET',
      'HEAD',
      'OPTIONS',
      'TRACE',
      'BREW',
      'constructor',
      '__proto__',
    ] as const),
  ]);
  const name = random.pick(names);
  const subresource = drawSubresource(random, target);
  const { body: drawn, type } = drawBody(random, { target, method, name, subresource });
  // Most go to the handler without a socket, which would refuse more.
  const body = drawn.subarray(0, defaultLimits.maxBodyBytes);
  const headers: Input['headers'] = {
    ...(type === undefined ? {} : { 'content-type': type }),
    ...drawHeaders(random),
  };
  const path = drawPath(random, { target, method, name, subresource });
  const trusted = headers.authorization === undefined || random.below(2) === 0;
  return { method, path: `${path}${drawQuery(random, method)}`, headers, body, trusted };
}

type InputSpec = {
  readonly target: Target;
  readonly method: string;
  readonly name: string;
  readonly subresource: string;
};

function drawSubresource(random: Random, { subresources = [] }: Target): string {
  if (random.below(5) > 0) return '';
  const known = subresources.map(({ name }) => name);
  return random.pick(['status', 'scale', 'proxy', 'x', ...known, ...known]);
}

const oddSegments: readonly [string, ...string[]] = [
  '..',
  '.',
  '%2e%2e',
  '%2F',
  '%00',
  '%',
  '%zz',
  '%ff%fe',
  'a'.repeat(4000),
  '__proto__',
  'constructor',
  'toString',
  ';',
  '*',
  'watch',
  'proxy',
  '%F0%9F%92%A5',
  '',
  'namespaces',
  'a:b:c:d',
];

function drawPath(random: Random, { target, method, name, subresource }: InputSpec): string {
  const { group, version, plural, namespaced } = target;
  const hasName = method === 'POST' ? subresource !== '' : random.below(4) > 0;
  const segments = [
    ...(group === '' ? ['api', version] : ['apis', group, version]),
    ...(namespaced ? ['namespaces', fuzzNamespace] : []),
    plural,
    ...(hasName ? [name] : []),
    ...(subresource === '' ? [] : [subresource]),
  ];
  if (random.below(6) > 0) return `/${segments.join('/')}`;
  const at = random.below(segments.length + 1);
  const odd = random.pick(oddSegments);
  const changed = [...segments.slice(0, at), odd, ...segments.slice(at + random.below(2))];
  return `/${random.below(4) === 0 ? mutatePath(random, changed.join('/')) : changed.join('/')}`;
}

/** What cannot stand in a request line at all never reaches the server. */
const mutatePath = (random: Random, path: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: exactly those are taken out
  mutateText(random, path).replace(/[\u0000- ?#\u007f-\uffff]/g, '-');

type Body = { readonly body: Uint8Array; readonly type?: string };
const none: Body = { body: new Uint8Array() };

function drawBody(random: Random, spec: InputSpec): Body {
  if (random.below(150) === 0) return drawDeep(random);
  switch (spec.method) {
    case 'POST':
    case 'PUT':
      return encoded(random, spec, seedFor(random, spec));
    case 'PATCH':
      return drawPatch(random, spec);
    case 'DELETE':
      return random.below(2) === 0 ? none : encoded(random, spec, deleteBody);
    default:
      return random.below(10) === 0 ? encoded(random, spec, seedFor(random, spec)) : none;
  }
}

/** What is read by recursion has an end to its stack. */
function drawDeep(random: Random): Body {
  const depth = random.pick([450, 450, 900, 90_000, 500_000]);
  const [opens, closes] = random.pick([
    ['[', ']'],
    ['{"a":', '}'],
    ['[{"a":', '}]'],
  ]);
  const inside = `${opens.repeat(depth)}1${random.below(4) === 0 ? '' : closes.repeat(depth)}`;
  const text = random.pick([
    inside,
    `{"metadata":{"name":"a"},"spec":${inside}}`,
    `{"metadata":{"name":"a","managedFields":[{"fieldsV1":${inside}}]}}`,
    `[{"op":"add","path":"/metadata/x","value":${inside}}]`,
  ]);
  return { body: Buffer.from(text), type: random.pick([...bodyTypes, ...patchTypes]) };
}

const bodyTypes = ['application/json', 'application/yaml'] as const;
const patchTypes = [
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
] as const;

function seedFor(random: Random, { target, name, subresource }: InputSpec): Fields {
  const special = subresourceBodies[subresource];
  if (special !== undefined) return special;
  const { group, version, kind, plural, namespaced, schema } = target;
  const seed = seedObjects[groupResource(group, plural)];
  const fields = seed === undefined || random.below(8) === 0 ? exampleOf(schema, fullValues) : seed;
  const metadata = {
    name,
    ...(namespaced ? { namespace: fuzzNamespace } : {}),
    labels: { app: 'web' },
    annotations: { a: 'b' },
  };
  return { kind, apiVersion: groupVersion(group, version), ...fields, metadata };
}

/** In one of the three forms, broken inside the object or in its text or bytes. */
function encoded(random: Random, { target, subresource }: InputSpec, seed: Fields): Body {
  const isWhole = random.below(8) === 0;
  const object = isWhole || random.below(4) === 0 ? seed : mutateValue(random, seed);
  const asText = (text: string): Uint8Array =>
    Buffer.from(isWhole || random.below(4) > 0 ? text : mutateText(random, text));
  switch (random.below(6)) {
    case 0:
      return { body: asText(stringify(object)), type: 'application/yaml' };
    case 1:
      if (subresource !== '' && subresource !== 'status') break;
      return { body: protobuf(random, target, seed), type: 'application/vnd.kubernetes.protobuf' };
    case 2:
      return random.below(8) === 0
        ? { body: mutateBytes(random, Buffer.from(JSON.stringify(object))) }
        : { body: asText(JSON.stringify(object)) };
  }
  return { body: asText(JSON.stringify(object)), type: 'application/json' };
}

function protobuf(random: Random, { schema }: Target, seed: Fields): Uint8Array {
  const { kind, apiVersion, ...fields } = seed;
  const message = toProtobuf(schema, fields);
  const broken = random.below(2) === 0 ? mutateBytes(random, message) : message;
  const frame = toEnvelope({
    apiVersion: String(apiVersion),
    kind: String(kind),
    message: Buffer.from(broken),
  });
  return random.below(3) === 0 ? mutateBytes(random, frame) : frame;
}

function drawPatch(random: Random, spec: InputSpec): Body {
  const seed = seedFor(random, spec);
  const type = random.pick(patchTypes);
  const patch =
    type === 'application/json-patch+json'
      ? drawJsonPatch(random, seed)
      : mutateValue(random, seed);
  const text = JSON.stringify(patch) ?? 'null';
  return { body: Buffer.from(random.below(6) > 0 ? text : mutateText(random, text)), type };
}

function drawJsonPatch(random: Random, seed: Fields): unknown {
  const pointers = pointersOf(seed, '', 0);
  const pointer = (): string =>
    random.below(6) === 0
      ? random.pick([
          '',
          '/',
          '/-',
          '/spec/ports/-1',
          '/__proto__/x',
          '/~',
          '/~2',
          'x',
          '/metadata/-',
        ])
      : (pointers[random.below(pointers.length)] ?? '');
  const operations = Array.from({ length: 1 + random.below(4) }, () => ({
    op: random.pick(['add', 'replace', 'remove', 'move', 'copy', 'test', 'x']),
    path: pointer(),
    from: pointer(),
    value: random.pick(oddValues),
  }));
  return random.below(8) === 0 ? mutateValue(random, operations) : operations;
}

function pointersOf(value: unknown, at: string, depth: number): readonly string[] {
  if (typeof value !== 'object' || value === null || depth > 6) return [at];
  const inside = Object.entries(value).flatMap(([key, item]) =>
    pointersOf(item, `${at}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`, depth + 1),
  );
  return [at, ...inside];
}
