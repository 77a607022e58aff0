import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Service } from '../../kinds/service/types.ts';
import { serviceSchema } from '../../kinds/service/types.ts';
import type { KubeObject } from '../../meta/object.ts';
import { runAtOnce } from '../limits/pace.ts';
import {
  keepReset,
  keepTimes,
  recordUpdate as recordAtOnce,
  recordSteps,
  type UpdateRecord,
} from './managed-fields.ts';

const early = '2026-01-01T00:00:00Z';
const late = '2026-01-02T00:00:00Z';

/** Large objects are recorded in steps, with the same outcome. */
function recordUpdate(record: UpdateRecord): KubeObject {
  const recorded = recordAtOnce(record);
  const inSteps = runAtOnce(recordSteps(record));
  assert.equal(JSON.stringify(inSteps), JSON.stringify(recorded));
  return recorded;
}

type Changes = { readonly metadata?: object; readonly spec?: object; readonly status?: object };

const service = ({ metadata, spec, status }: Changes = {}): Service => ({
  kind: 'Service',
  apiVersion: 'v1',
  metadata: { name: 'a', uid: 'u', ...metadata },
  spec: { ports: [{ protocol: 'TCP', port: 80, targetPort: 80 }], type: 'ClusterIP', ...spec },
  status: { loadBalancer: {}, ...status },
});

type Write = { readonly manager?: string; readonly subresource?: string; readonly now?: string };

const create = (after: KubeObject, { manager = 'm1', now = early }: Write = {}): KubeObject =>
  recordUpdate({ after, schema: serviceSchema, manager, subresource: '', apiVersion: 'v1', now });

function update(before: KubeObject, after: KubeObject, write: Write = {}): KubeObject {
  const { manager = 'm1', subresource = '', now = late } = write;
  return recordUpdate({
    before,
    after,
    schema: serviceSchema,
    manager,
    subresource,
    apiVersion: 'v1',
    now,
  });
}

const entry = (manager: string, time: string, fieldsV1: object, subresource?: string) => ({
  manager,
  operation: 'Update',
  apiVersion: 'v1',
  time,
  fieldsType: 'FieldsV1',
  fieldsV1,
  ...(subresource === undefined ? {} : { subresource }),
});

const ports = {
  '.': {},
  'k:{"port":80,"protocol":"TCP"}': { '.': {}, 'f:port': {}, 'f:protocol': {}, 'f:targetPort': {} },
};
const created = { 'f:spec': { 'f:ports': ports, 'f:type': {} } };

describe('recordUpdate()', () => {
  it('gives all fields of a new object to its creator, in order', () => {
    const object = create(service({ metadata: { labels: { b: '1', a: '2' } } }));
    const labels = { '.': {}, 'f:a': {}, 'f:b': {} };
    const want = [entry('m1', early, { 'f:metadata': { 'f:labels': labels }, ...created })];
    assert.equal(JSON.stringify(object.metadata.managedFields), JSON.stringify(want));
  });

  it('does not own the status that a write of the object resets', () => {
    const object = create(
      service({ status: { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } } }),
    );
    assert.deepEqual(object.metadata.managedFields, [entry('m1', early, created)]);
  });

  it('calls a writer without name unknown', () => {
    assert.equal(
      create(service(), { manager: '' }).metadata.managedFields?.[0]?.manager,
      'unknown',
    );
  });

  it('hands changed fields over and takes removed ones away', () => {
    const before = create(service({ metadata: { labels: { a: '1' } } }));
    const after = update(before, service({ spec: { type: 'NodePort' } }), { manager: 'm2' });
    assert.deepEqual(after.metadata.managedFields, [
      entry('m1', early, { 'f:spec': { 'f:ports': ports } }),
      entry('m2', late, { 'f:spec': { 'f:type': {} } }),
    ]);
  });

  it('adds to the entry of the same writer and renews its time', () => {
    const after = update(create(service()), service({ spec: { sessionAffinity: 'None' } }));
    const fields = { 'f:spec': { 'f:ports': ports, 'f:sessionAffinity': {}, 'f:type': {} } };
    assert.deepEqual(after.metadata.managedFields, [entry('m1', late, fields)]);
  });

  it('renews no time where fields only go', () => {
    const before = create(service({ spec: { sessionAffinity: 'None' } }));
    assert.deepEqual(update(before, service()).metadata.managedFields, [
      entry('m1', early, created),
    ]);
  });

  it('keeps the stored list itself where nothing changes', () => {
    const before = create(service());
    const stored = before.metadata.managedFields;
    assert.equal(update(before, service()).metadata.managedFields, stored);
    const sent = service({ metadata: { managedFields: structuredClone(stored) } });
    assert.equal(update(before, sent).metadata.managedFields, stored);
  });
});

describe('recordUpdate() on entries', () => {
  it('drops entries that have nothing left', () => {
    const before = update(create(service()), service({ spec: { type: 'NodePort' } }), {
      manager: 'm2',
    });
    const after = update(before, service({ spec: { type: 'ClusterIP' } }), { manager: 'm3' });
    assert.deepEqual(
      after.metadata.managedFields?.map((e) => e.manager),
      ['m1', 'm3'],
    );
  });

  it('has entries of its own for a subresource, which owns no spec', () => {
    const status = { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } };
    const wanted = service({
      status,
      spec: { type: 'NodePort' },
      metadata: { managedFields: [{}] },
    });
    const after = update(create(service()), wanted, { subresource: 'status' });
    assert.deepEqual(after.metadata.managedFields, [
      entry('m1', early, created),
      entry('m1', late, { 'f:status': { 'f:loadBalancer': { 'f:ingress': {} } } }, 'status'),
    ]);
  });

  it('takes edited entries, and the stored ones where they cannot be read', () => {
    const before = create(service());
    const edited = [entry('other', early, { 'f:spec': { 'f:type': {} } })];
    const after = update(before, service({ metadata: { managedFields: edited } }));
    assert.deepEqual(after.metadata.managedFields, edited);
    const broken = [entry('other', early, { type: {} })];
    const unread = update(before, service({ metadata: { managedFields: broken } }));
    assert.equal(unread.metadata.managedFields, before.metadata.managedFields);
  });

  it('ends tracking with one empty entry, and for good', () => {
    const ended = update(create(service()), service({ metadata: { managedFields: [{}] } }));
    assert.equal(ended.metadata.managedFields, undefined);
    const changed = update(ended, service({ spec: { type: 'NodePort' } }));
    assert.equal(changed.metadata.managedFields, undefined);
  });

  it('merges the oldest of more than ten updaters', () => {
    let object = create(service(), { manager: 'm00' });
    for (let i = 1; i <= 12; i += 1) {
      const labels = { ...object.metadata.labels, [`l${i}`]: 'x' };
      const now = `2026-01-01T00:00:${String(i).padStart(2, '0')}Z`;
      const manager = `m${String(i).padStart(2, '0')}`;
      object = update(object, service({ metadata: { labels } }), { manager, now });
    }
    const entries = object.metadata.managedFields ?? [];
    assert.equal(entries.length, 10);
    assert.deepEqual(entries[0], {
      ...entry('ancient-changes', '2026-01-01T00:00:03Z', {
        'f:metadata': { 'f:labels': { '.': {}, 'f:l1': {}, 'f:l2': {}, 'f:l3': {} } },
        ...created,
      }),
    });
    assert.deepEqual(
      entries.slice(1).map((e) => e.manager),
      ['m04', 'm05', 'm06', 'm07', 'm08', 'm09', 'm10', 'm11', 'm12'],
    );
  });
});

describe('recordUpdate() of very many managers', () => {
  const managers = (operation: string) =>
    Array.from({ length: 5_000 }, (_, n) => ({
      ...entry(`m${n}`, '2026-01-01T00:00:01Z', {
        'f:metadata': { 'f:labels': { [`f:l${n}`]: {} } },
      }),
      operation,
    }));

  it('unites all but ten updaters, with all that they set', () => {
    const before = create(service());
    const managedFields = managers('Update') as never;
    const changed = service({ metadata: { managedFields, labels: { x: 'y' } } });
    const entries = update(before, changed, { manager: 'w' }).metadata.managedFields ?? [];
    assert.equal(entries.length, 10);
    const ancient = entries.find(({ manager }) => manager === 'ancient-changes');
    const fields = JSON.stringify(ancient?.fieldsV1 ?? {});
    assert.ok(fields.split('"f:l').length > 4_980);
  });
});

describe('keepReset()', () => {
  it('carries an empty list over, and nothing else', () => {
    const object = service();
    assert.deepEqual(
      keepReset({ metadata: { managedFields: [] } }, object).metadata.managedFields,
      [{}],
    );
    for (const body of [null, {}, { metadata: null }, { metadata: { managedFields: null } }]) {
      assert.equal(keepReset(body, object), object);
    }
  });
});

describe('keepTimes()', () => {
  const before = create(service());
  const later = create(service(), { now: late });

  it('undoes a new time of a write that changes nothing', () => {
    assert.equal(keepTimes(before, later).metadata.managedFields, before.metadata.managedFields);
  });

  it('keeps a new time of a write that changes something', () => {
    const changed = { ...later, spec: { type: 'NodePort' } };
    assert.equal(keepTimes(before, changed), changed);
    const other = create(service(), { manager: 'm2', now: late });
    assert.equal(keepTimes(before, other), other);
  });
});
