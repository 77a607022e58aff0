import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Condition, validateConditions } from './conditions.ts';
import { errorText } from './field-error.ts';

const good: Condition = {
  type: 'Ready',
  status: 'True',
  lastTransitionTime: '2026-01-02T03:04:05Z',
  reason: 'Because',
  message: '',
};

const cases: readonly (readonly [string, readonly Condition[], readonly string[]])[] = [
  ['a valid one', [good], []],
  ['a type twice', [good, good], ['c[1].type: Duplicate value: "Ready"']],
  [
    'an unknown status',
    [{ ...good, status: 'Maybe' as 'True' }],
    ['c[0].status: Unsupported value: "Maybe": supported values: "False", "True", "Unknown"'],
  ],
  [
    'no reason and no time',
    [{ ...good, reason: '', lastTransitionTime: '' }],
    [
      'c[0].lastTransitionTime: Required value: must be set',
      'c[0].reason: Required value: must be set',
    ],
  ],
  [
    'a negative generation',
    [{ ...good, observedGeneration: -1 }],
    ['c[0].observedGeneration: Invalid value: -1: must be greater than or equal to zero'],
  ],
  [
    'a long message',
    [{ ...good, message: 'x'.repeat(32769) }],
    ['c[0].message: Too long: may not be more than 32768 bytes'],
  ],
  [
    'a reason of the wrong form',
    [{ ...good, reason: '1x' }],
    [
      "c[0].reason: Invalid value: \"1x\": a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')",
    ],
  ],
];

for (const [name, conditions, expected] of cases) {
  test(`validateConditions() with ${name}`, () =>
    assert.deepEqual(validateConditions(conditions, 'c').map(errorText), expected));
}
