import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Service, serviceSchema } from '../../kinds/service/types.ts';
import { type ApiError, isApiError } from '../../meta/api-error.ts';
import type { KubeObject } from '../../meta/object.ts';
import { decode } from '../../schema/decode.ts';
import { type FieldSet, sameSet } from './fieldset.ts';
import { recordUpdate } from './managed-fields.ts';
import { applyObject } from './server-side-apply.ts';

const early = '2026-01-01T00:00:00Z';
const late = '2026-01-02T00:00:00Z';
const kind = { group: '', version: 'v1', kind: 'Service' };

type Apply = {
  readonly live?: KubeObject;
  readonly manager?: string;
  readonly force?: boolean;
  readonly subresource?: string;
  readonly now?: string;
};

function apply(body: object, options: Apply = {}): Service {
  const { live, manager = 'm1', force = false, subresource = '', now = early } = options;
  const applied = { apiVersion: 'v1', kind: 'Service', ...body };
  const request = { applied, schema: serviceSchema, kind, manager, force, subresource, now };
  const object = applyObject(live === undefined ? request : { ...request, live }).object as Service;
  return { ...object, metadata: { ...object.metadata, uid: 'u' } };
}

function update(before: KubeObject | undefined, after: KubeObject, manager: string): KubeObject {
  const write = { schema: serviceSchema, manager, subresource: '', apiVersion: 'v1', now: early };
  return recordUpdate(before === undefined ? { ...write, after } : { ...write, before, after });
}

const body = (spec: object, labels?: object) => ({
  metadata: { name: 'a', ...(labels === undefined ? {} : { labels }) },
  spec,
});

const fieldsOwnedBy = (object: KubeObject, manager: string): unknown =>
  object.metadata.managedFields?.find((entry) => entry.manager === manager)?.fieldsV1;

const timesOf = (object: KubeObject): readonly unknown[] =>
  (object.metadata.managedFields ?? []).map((entry) => [entry.manager, entry.time]);

function failureOf(run: () => unknown): ApiError['status'] {
  try {
    run();
  } catch (error) {
    if (isApiError(error)) return error.status;
    throw error;
  }
  throw new Error('it did not fail');
}

const port80 = { 'f:ports': { 'k:{"port":80,"protocol":"TCP"}': { '.': {}, 'f:port': {} } } };

describe('applyObject()', () => {
  it('owns what it applies and nothing else', () => {
    const object = apply(body({ ports: [{ port: 80 }], selector: { a: '1' } }, { a: '1' }));
    assert.deepEqual(object.metadata.managedFields, [
      {
        manager: 'm1',
        operation: 'Apply',
        apiVersion: 'v1',
        time: early,
        fieldsType: 'FieldsV1',
        fieldsV1: {
          'f:metadata': { 'f:labels': { 'f:a': {} } },
          'f:spec': { ...port80, 'f:selector': {} },
        },
      },
    ]);
    assert.deepEqual(object.spec, { ports: [{ port: 80 }], selector: { a: '1' } });
  });

  it('removes what it no longer names and no other manager owns', () => {
    const first = apply(
      body({ ports: [{ port: 80 }, { port: 81 }], type: 'NodePort' }, { a: '1', b: '2' }),
    );
    const shared = apply(body({ type: 'NodePort' }), { live: first, manager: 'm2' });
    const live = { ...shared, spec: { ...shared.spec, clusterIP: '10.0.0.1' } };
    const object = apply(body({ ports: [{ port: 81 }] }, { b: '2' }), { live, now: late });
    assert.deepEqual(object.metadata.labels, { b: '2' });
    assert.deepEqual(object.spec, {
      ports: [{ port: 81 }],
      type: 'NodePort',
      clusterIP: '10.0.0.1',
    });
    assert.deepEqual(fieldsOwnedBy(object, 'm2'), { 'f:spec': { 'f:type': {} } });
  });

  it('keeps an item with a field of another manager', () => {
    const first = apply(body({ ports: [{ port: 80, name: 'a' }] }));
    const second = apply(body({ ports: [{ port: 80, targetPort: 8080 }] }), {
      live: first,
      manager: 'm2',
    });
    const object = apply(body({}), { live: second });
    assert.deepEqual(object.spec.ports, [{ port: 80, targetPort: 8080 }]);
  });

  it('removes an item with what an update set in it, because only the item itself counts', () => {
    const first = apply(body({ ports: [{ port: 80 }], type: 'NodePort' }));
    const after = { ...first, spec: { ...first.spec, ports: [{ port: 80, targetPort: 81 }] } };
    const object = apply(body({}), { live: update(first, after, 'm2') });
    assert.equal(object.spec.ports ?? null, null);
    assert.equal(fieldsOwnedBy(object, 'm2'), undefined);
  });
});

describe('applyObject() records', () => {
  it('gives no new time to a change of ownership', () => {
    const live = apply(body({ type: 'NodePort' }));
    const object = apply(body({ type: 'NodePort' }), { live, manager: 'm2', now: late });
    assert.deepEqual(timesOf(object), [
      ['m2', undefined],
      ['m1', early],
    ]);
    const again = apply(body({ type: 'NodePort' }), { live: object, now: late });
    assert.deepEqual(again.metadata.managedFields, object.metadata.managedFields);
  });

  it('keeps an entry for an empty struct and drops an empty entry', () => {
    const live = apply(body({ type: 'NodePort' }), { manager: 'm2' });
    assert.deepEqual(fieldsOwnedBy(apply(body({}), { live }), 'm1'), { 'f:spec': {} });
    assert.equal(fieldsOwnedBy(apply({ metadata: { name: 'a' } }, { live }), 'm1'), undefined);
  });

  it('makes an untracked object belong to a common manager first', () => {
    const {
      metadata: { managedFields: _dropped, ...metadata },
      ...rest
    } = apply(body({ type: 'NodePort' }));
    const live = { ...rest, metadata } as Service;
    const object = apply(body({ type: 'NodePort' }), { live, now: late });
    assert.deepEqual(timesOf(object), [
      ['m1', undefined],
      ['before-first-apply', late],
    ]);
    const { message } = failureOf(() => apply(body({ type: 'ClusterIP' }), { live }));
    assert.equal(
      message,
      'Apply failed with 1 conflict: conflict with "before-first-apply" using v1: .spec.type',
    );
  });

  it('owns only the status through the status', () => {
    const live = apply(body({ type: 'NodePort' }));
    const status = { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } };
    const object = apply(
      { ...body({ type: 'ClusterIP' }), status },
      { live, manager: 'lb', subresource: 'status' },
    );
    assert.deepEqual(fieldsOwnedBy(object, 'lb'), {
      'f:status': { 'f:loadBalancer': { 'f:ingress': {} } },
    });
    assert.deepEqual(fieldsOwnedBy(object, 'm1'), { 'f:spec': { 'f:type': {} } });
  });
});

describe('applyObject() on conflicts', () => {
  const first = apply(body({ selector: { a: '1' }, type: 'NodePort' }, { a: '1', b: '1' }), {
    manager: 'm2',
  });
  const after = { ...first, metadata: { ...first.metadata, labels: { a: '1', b: '1', c: '1' } } };
  const live = update(first, after, 'm1');
  const wanted = body({ selector: { a: '2' } }, { a: '2', b: '1', c: '2' });

  it('names every manager and field', () => {
    const status = failureOf(() => apply(wanted, { live, manager: 'm3' }));
    assert.equal(status.code, 409);
    assert.equal(status.reason, 'Conflict');
    assert.equal(
      status.message,
      'Apply failed with 3 conflicts: conflicts with "m1" using v1:\n- .metadata.labels.c\nconflicts with "m2":\n- .metadata.labels.a\n- .spec.selector',
    );
    assert.deepEqual(status.details, {
      causes: [
        {
          reason: 'FieldManagerConflict',
          message: 'conflict with "m1" using v1',
          field: '.metadata.labels.c',
        },
        {
          reason: 'FieldManagerConflict',
          message: 'conflict with "m2"',
          field: '.metadata.labels.a',
        },
        { reason: 'FieldManagerConflict', message: 'conflict with "m2"', field: '.spec.selector' },
      ],
    });
  });

  it('names the subresource', () => {
    const status = { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } };
    const owned = apply(
      { metadata: { name: 'a' }, status },
      { live, manager: 'lb', subresource: 'status' },
    );
    const other = { loadBalancer: { ingress: [{ ip: '192.0.2.2' }] } };
    const run = () =>
      apply({ metadata: { name: 'a' }, status: other }, { live: owned, subresource: 'status' });
    assert.equal(
      failureOf(run).message,
      'Apply failed with 1 conflict: conflict with "lb" with subresource "status": .status.loadBalancer.ingress',
    );
  });

  it('takes fields over with force', () => {
    const object = apply(wanted, { live, manager: 'm3', force: true, now: late });
    assert.deepEqual(object.spec, { selector: { a: '2' }, type: 'NodePort' });
    assert.equal(fieldsOwnedBy(object, 'm1'), undefined);
    assert.deepEqual(fieldsOwnedBy(object, 'm2'), {
      'f:metadata': { 'f:labels': { 'f:b': {} } },
      'f:spec': { 'f:type': {} },
    });
    assert.deepEqual(fieldsOwnedBy(object, 'm3'), {
      'f:metadata': { 'f:labels': { 'f:a': {}, 'f:b': {}, 'f:c': {} } },
      'f:spec': { 'f:selector': {} },
    });
  });
});

describe('applyObject() refuses', () => {
  const cases: readonly (readonly [title: string, body: unknown, message: string])[] = [
    ['no kind', {}, 'invalid object type: /, Kind='],
    ['an empty body', null, 'invalid object type: /, Kind='],
    ['another kind', { apiVersion: 'v1', kind: 'Pod' }, 'invalid object type: /v1, Kind=Pod'],
    [
      'another group',
      { apiVersion: 'apps/v1', kind: 'Service' },
      'invalid object type: apps/v1, Kind=Service',
    ],
    [
      'managedFields',
      { apiVersion: 'v1', kind: 'Service', metadata: { managedFields: [] } },
      'metadata.managedFields must be nil',
    ],
    [
      'unknown fields',
      { apiVersion: 'v1', kind: 'Service', metadata: { name: 'a', namespace: 'n' }, foo: 1 },
      'failed to create typed patch object (n/a; /v1, Kind=Service): .foo: field not declared in schema',
    ],
    [
      'a list',
      [],
      'error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal array into Go value of type map[string]interface {}',
    ],
  ];
  for (const [title, applied, message] of cases) {
    it(title, () => {
      const request = {
        applied,
        schema: serviceSchema,
        kind,
        manager: 'm1',
        force: false,
        subresource: '',
        now: early,
      };
      const status = failureOf(() => applyObject(request));
      assert.equal(status.message, message);
      assert.equal(status.code, 400);
    });
  }
});

describe('applyObject() by kubectl', () => {
  const annotation = 'kubectl.kubernetes.io/last-applied-configuration';
  const lastApplied = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'a' },
    spec: { type: 'NodePort', sessionAffinity: 'None' },
  };
  const created = {
    ...apply(lastApplied),
    metadata: { name: 'a', uid: 'u', annotations: { [annotation]: JSON.stringify(lastApplied) } },
  };
  const live = update(undefined, created, 'kubectl-client-side-apply');

  it('takes over what client-side apply set, and keeps the annotation up to date', () => {
    const object = apply(body({ type: 'ClusterIP' }), { live, manager: 'kubectl', now: late });
    assert.equal(object.spec.type, 'ClusterIP');
    const noted =
      '{"apiVersion":"v1","kind":"Service","metadata":{"name":"a"},"spec":{"type":"ClusterIP"}}\n';
    assert.equal(object.metadata.annotations?.[annotation], noted);
  });

  it('conflicts on what was changed since', () => {
    const changed = { ...live, spec: { type: 'LoadBalancer', sessionAffinity: 'None' } };
    const edited = update(live, changed, 'editor');
    const run = () =>
      apply(body({ type: 'ClusterIP', sessionAffinity: 'ClientIP' }), {
        live: edited,
        manager: 'kubectl',
      });
    assert.equal(
      failureOf(run).message,
      'Apply failed with 1 conflict: conflict with "editor" using v1: .spec.type',
    );
  });

  it('leaves other managers their conflicts', () => {
    const run = () => apply(body({ type: 'ClusterIP' }), { live, manager: 'm1' });
    assert.match(
      failureOf(run).message ?? '',
      /conflict with "kubectl-client-side-apply" using v1: \.spec\.type/,
    );
  });
});

describe('applyObject() for random configurations, seeds 1 to 200', () => {
  const random = (seed: number) => () => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return seed / 2 ** 32;
  };
  const configuration = (next: () => number) => {
    const some = <T>(value: T): T[] => (next() < 0.5 ? [value] : []);
    const labels = ['a', 'b', 'c'].flatMap((l) => some([l, next() < 0.5 ? '1' : '2'] as const));
    const ports = [80, 81, 82].flatMap((port) =>
      some({ port, ...(next() < 0.5 ? { name: `p${port}` } : {}) }),
    );
    const finalizers = ['x/a', 'x/b'].flatMap(some);
    const metadata = {
      name: 'a',
      ...(labels.length === 0 ? {} : { labels: Object.fromEntries(labels) }),
      ...(finalizers.length === 0 ? {} : { finalizers }),
    };
    return { metadata, spec: { ...(ports.length === 0 ? {} : { ports }), type: 'NodePort' } };
  };
  /** As it is stored: without nulls. */
  const stored = (config: object, options: Apply): Service =>
    decode(serviceSchema, apply(config, options)).object as Service;

  it('leaves each manager what it applied, and nothing when all let go', () => {
    for (let seed = 1; seed <= 200; seed += 1) {
      const next = random(seed);
      let live = stored(configuration(next), { force: true });
      for (let i = 0; i < 5; i += 1) {
        const manager = `m${1 + Math.floor(next() * 3)}`;
        const config = configuration(next);
        const object = stored(config, { live, manager, force: true });
        const again = stored(config, { live: object, manager });
        assert.deepEqual(again, object, `seed ${seed}: repeating changes nothing`);
        const alone = fieldsOwnedBy(stored(config, { manager }), manager) as FieldSet | undefined;
        assert.ok(
          sameSet((fieldsOwnedBy(object, manager) ?? {}) as FieldSet, alone ?? {}),
          `seed ${seed}`,
        );
        live = object;
      }
      for (const manager of ['m1', 'm2', 'm3'])
        live = stored({ metadata: { name: 'a' } }, { live, manager });
      const { labels, finalizers, managedFields } = live.metadata;
      assert.deepEqual(
        [labels ?? {}, finalizers ?? [], live.spec?.ports ?? [], managedFields],
        [{}, [], [], undefined],
        `seed ${seed}`,
      );
    }
  });
});
