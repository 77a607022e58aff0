// A small kind for tests of what the server says about kinds and objects.
import type { KindDefinition } from '../../kinds/definition.ts';
import { ageColumn, nameColumn } from '../../kinds/metadata-columns.ts';
import { type KubeObject, objectFields } from '../../meta/object.ts';
import * as s from '../../schema/node.ts';
import type { Cached } from '../cache/resource-cache.ts';

const widgetPort = s.struct(
  'WidgetPort',
  {
    name: s.string('Name of the port.'),
    port: s.required(s.always(s.int32('Number of the port.'))),
    protocol: s.oneOf(['UDP', 'TCP'], 'Transport protocol.', { default: 'TCP' }),
    target: s.intOrString('Number or name at the other end.'),
  },
  { numbers: [1, 2, 3, 4] },
);

const widgetSpec = s.struct(
  'WidgetSpec',
  {
    ports: s.list(widgetPort, 'The ports.', {
      listType: 'map',
      keys: ['port', 'protocol'],
      mergeKey: 'port',
      patchStrategy: 'merge',
    }),
    selector: s.map(s.string(), 'Which pods.', { mapType: 'atomic' }),
    size: s.quantity('How large.'),
    since: s.pointer(s.time('From when on.')),
  },
  { numbers: [1, 2, 3, 4] },
);

export const widget = s.struct(
  'Widget',
  { ...objectFields, spec: s.described(widgetSpec, 'What is wanted.') },
  { description: 'A thing for tests.', numbers: [0, 0, 1, 2] },
);
export type Widget = s.Static<typeof widget> & KubeObject;

export const widgetDefinition: KindDefinition<Widget> = {
  group: 'example.k8s.io',
  version: 'v1',
  kind: 'Widget',
  plural: 'widgets',
  singular: 'widget',
  shortNames: ['wd'],
  categories: ['all'],
  namespaced: true,
  schema: widget,
  nameRule: () => [],
  create: { validateCreate: () => [] },
  update: { validateUpdate: () => [] },
  subresources: [
    { name: 'status', verbs: ['update', 'get', 'patch'] },
    { name: 'scale', group: 'autoscaling', version: 'v1', kind: 'Scale', verbs: ['get'] },
  ],
  columns: [
    nameColumn,
    {
      name: 'Ports',
      type: 'integer',
      description: 'How many ports.',
      priority: 1,
      cell: (object) => object.spec.ports?.length ?? 0,
    },
    ageColumn,
  ],
};

/** The core group always exists; this is all of it that the tests need. */
export const gadgetDefinition: KindDefinition<Widget> = {
  ...widgetDefinition,
  group: '',
  kind: 'Gadget',
  plural: 'gadgets',
  singular: 'gadget',
  shortNames: [],
  categories: [],
  namespaced: false,
  verbs: ['get', 'list', 'create'],
  schema: s.struct('Gadget', { ...objectFields, ports: s.list(widgetPort) }),
  subresources: [],
};

export function cachedWidget(name: string, revision: number, ports = 1): Cached {
  const prefix = '{"kind":"Widget","apiVersion":"example.k8s.io/v1",';
  const metadata = {
    name,
    namespace: 'ns',
    resourceVersion: String(revision),
    creationTimestamp: '2024-01-01T00:00:00Z',
  };
  const spec = { ports: Array.from({ length: ports }, (_, at) => ({ port: 80 + at })) };
  const json = Buffer.from(`${prefix}${JSON.stringify({ metadata, spec }).slice(1)}`);
  const object = { kind: 'Widget', apiVersion: 'example.k8s.io/v1', metadata, spec };
  const dropObject = (): void => {};
  return { key: `ns/${name}`, revision, object, json, prefixLength: prefix.length, dropObject };
}
