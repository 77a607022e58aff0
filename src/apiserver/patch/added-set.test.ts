import assert from 'node:assert/strict';
import { test } from 'node:test';
import { widget } from '../encode/example.ts';
import { addedSet } from './added-set.ts';

const spec = widget.fields.spec;
const port = 'k:{"port":80,"protocol":"TCP"}';

const cases: readonly { readonly of: string; readonly value: unknown; readonly set: unknown }[] = [
  { of: 'an empty struct', value: {}, set: {} },
  { of: 'a null', value: null, set: {} },
  {
    of: 'fields, in the order of their names',
    value: { size: '1', selector: { b: '1', a: '2' } },
    set: { '.': {}, 'f:selector': {}, 'f:size': {} },
  },
  {
    of: 'items by their keys',
    value: { ports: [{ port: 80, name: 'web' }] },
    set: {
      '.': {},
      'f:ports': { '.': {}, [port]: { '.': {}, 'f:name': {}, 'f:port': {} } },
    },
  },
  {
    of: 'items that are ambiguous, as a whole',
    value: { ports: [{ port: 80, name: 'a' }, { port: 80 }] },
    set: { '.': {}, 'f:ports': { '.': {}, [port]: {} } },
  },
  { of: 'an empty list', value: { ports: [] }, set: { '.': {}, 'f:ports': {} } },
  {
    of: 'fields that the schema does not know',
    value: { what: 1 },
    set: { '.': {}, 'f:what': {} },
  },
];

for (const { of, value, set } of cases) {
  test(`addedSet() of ${of}`, () => {
    assert.equal(JSON.stringify(addedSet(spec, value)), JSON.stringify(set));
  });
}
