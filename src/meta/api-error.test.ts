import assert from 'node:assert/strict';
import { test } from 'node:test';
import { alreadyExists, conflict, forbidden, invalid, notFound } from './api-error.ts';

const services = { group: '', resource: 'services' };
const name = 'a\u0007\u007f"\u{e000}';
const shown = '"a\\a\\x7f\\"\\ue000"';

const cases: readonly (readonly [string, { readonly message: string }, string])[] = [
  ['notFound', notFound(services, name), `services ${shown} not found`],
  ['alreadyExists', alreadyExists(services, name), `services ${shown} already exists`],
  [
    'conflict',
    conflict(services, name, 'why'),
    `Operation cannot be fulfilled on services ${shown}: why`,
  ],
  ['forbidden', forbidden(services, name, 'why'), `services ${shown} is forbidden: why`],
  ['invalid', invalid({ group: '', kind: 'Service' }, name, []), `Service ${shown} is invalid`],
];

for (const [made, error, wanted] of cases) {
  test(`${made}() quotes names as Go does`, () => assert.equal(error.message, wanted));
}
