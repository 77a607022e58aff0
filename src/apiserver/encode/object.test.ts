import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { cachedWidget, widgetDefinition as kind } from './example.ts';
import { plainJson, type Representation } from './negotiate.ts';
import { encodeObject } from './object.ts';

const now = Date.parse('2024-01-01T00:01:30Z');
const a = cachedWidget('a', 7);
const as = (more: Partial<Representation>): Representation => ({ ...plainJson, ...more });
const parse = (body: Buffer) => JSON.parse(body.toString('utf8'));

const partialA = {
  kind: 'PartialObjectMetadata',
  apiVersion: 'meta.k8s.io/v1',
  metadata: a.object.metadata,
};

describe('encodeObject()', () => {
  it('hands out the shared bytes', () => {
    const { body, contentType } = encodeObject(plainJson, kind, a, now);
    assert.equal(body, a.json);
    assert.equal(contentType, 'application/json');
  });

  it('writes an object that has no bytes yet', () =>
    assert.deepEqual(parse(encodeObject(plainJson, kind, a.object, now).body), a.object));

  it('indents', () =>
    assert.equal(
      encodeObject(as({ pretty: true }), kind, a, now).body.toString(),
      JSON.stringify(JSON.parse(a.json.toString()), undefined, 2),
    ));

  it('writes YAML with sorted keys and quoted ambiguous strings', () => {
    const object = { ...a.object, metadata: { name: 'yes', labels: { b: '1', a: 'on' } } };
    const { body, contentType } = encodeObject(as({ format: 'yaml' }), kind, object, now);
    assert.equal(contentType, 'application/yaml');
    assert.equal(
      body.toString(),
      [
        'apiVersion: example.k8s.io/v1',
        'kind: Widget',
        'metadata:',
        '  labels:',
        '    a: "on"',
        '    b: "1"',
        '  name: "yes"',
        'spec:',
        '  ports:',
        '  - port: 80',
        '',
      ].join('\n'),
    );
  });
});

describe('encodeObject() in other shapes', () => {
  it('makes a Table of one row', () => {
    const { columnDefinitions, ...rest } = parse(
      encodeObject(as({ as: 'Table' }), kind, a, now).body,
    );
    assert.deepEqual(
      columnDefinitions.map((c: { name: string; priority: number; format: string }) => [
        c.name,
        c.priority,
        c.format,
      ]),
      [
        ['Name', 0, 'name'],
        ['Ports', 1, ''],
        ['Age', 0, ''],
      ],
    );
    assert.deepEqual(rest, {
      kind: 'Table',
      apiVersion: 'meta.k8s.io/v1',
      metadata: { resourceVersion: '7' },
      rows: [{ cells: ['a', 1, '90s'], object: partialA }],
    });
  });

  it('shows name and time for a kind without columns', () => {
    const { columns: _columns, ...bare } = kind;
    const { rows } = parse(encodeObject(as({ as: 'Table' }), bare, a, now).body);
    assert.deepEqual(rows[0].cells, ['a', '2024-01-01T00:00:00Z']);
  });

  it('reduces to metadata', () =>
    assert.deepEqual(
      parse(encodeObject(as({ as: 'PartialObjectMetadata' }), kind, a, now).body),
      partialA,
    ));

  it('refuses the list form of metadata', () =>
    assert.throws(() => encodeObject(as({ as: 'PartialObjectMetadataList' }), kind, a, now), {
      message:
        'you requested PartialObjectMetadataList, but the requested object is not a list (*example.Widget)',
    }));
});
