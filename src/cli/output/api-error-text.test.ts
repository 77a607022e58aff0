import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ApiError, failure, invalid, notFound } from '../../meta/api-error.ts';
import { invalid as invalidField, required } from '../../meta/field-error.ts';
import { apiErrorText } from './api-error-text.ts';

const service = { group: '', kind: 'Service' };

const cases: readonly { name: string; error: ApiError; during?: string; text: string }[] = [
  {
    name: 'what is missing',
    error: notFound({ group: '', resource: 'services' }, 'web'),
    text: 'Error from server (NotFound): services "web" not found',
  },
  {
    name: 'what was tried',
    error: notFound({ group: '', resource: 'services' }, 'web'),
    during: 'error when creating "STDIN"',
    text: 'Error from server (NotFound): error when creating "STDIN": services "web" not found',
  },
  {
    name: 'one wrong field',
    error: invalid(service, 'web', [required('spec.ports')]),
    text: 'The Service "web" is invalid: spec.ports: Required value',
  },
  {
    name: 'several wrong fields',
    error: invalid(service, 'web', [required('spec.ports'), invalidField('spec.type', 'X', 'no')]),
    text: 'The Service "web" is invalid: \n* spec.ports: Required value\n* spec.type: Invalid value: "X": no',
  },
  {
    name: 'an error without a reason',
    error: failure({ code: 418, message: 'teapot' }),
    text: 'Error from server (418): teapot',
  },
];
for (const { name, error, during, text } of cases) {
  test(`apiErrorText() formats ${name}`, () => {
    assert.equal(apiErrorText(error, during), text);
  });
}
