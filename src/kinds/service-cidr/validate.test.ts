import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorText } from '../../meta/field-error.ts';
import type { ServiceCIDR } from './types.ts';
import { validateServiceCIDR, validateServiceCIDRUpdate } from './validate.ts';

const range = (cidrs?: readonly string[]): ServiceCIDR => ({
  kind: 'ServiceCIDR',
  apiVersion: 'networking.k8s.io/v1',
  metadata: { name: 'more' },
  spec: cidrs === undefined ? {} : { cidrs },
  status: {},
});

const perFamily =
  'may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64';

const cases: readonly [string, readonly string[] | undefined, readonly string[]][] = [
  ['accepts one range', ['10.97.0.0/24'], []],
  ['accepts one of each family in any order', ['fd00:97::/112', '10.97.0.0/24'], []],
  ['wants one', undefined, ['spec.cidrs: Required value: at least one CIDR required']],
  [
    'wants different families',
    ['10.97.0.0/24', '10.98.0.0/24'],
    [`spec.cidrs: Invalid value: ["10.97.0.0/24","10.98.0.0/24"]: ${perFamily}`],
  ],
  [
    'takes two',
    ['10.97.0.0/24', 'fd00:97::/112', 'fd00:98::/112'],
    [
      'spec.cidrs: Invalid value: {"CIDRs":["10.97.0.0/24","fd00:97::/112","fd00:98::/112"]}: may only hold up to 2 values',
    ],
  ],
  [
    'wants the canonical form',
    ['FD00:97::/112'],
    ['spec.cidrs[0]: Invalid value: "FD00:97::/112": must be in canonical form ("fd00:97::/112")'],
  ],
];

for (const [name, cidrs, wanted] of cases) {
  test(`validateServiceCIDR() ${name} (IPA-16)`, () => {
    assert.deepEqual(validateServiceCIDR(range(cidrs)).map(errorText), wanted);
  });
}

test('validateServiceCIDRUpdate() accepts an added second family and no other change (IPA-16)', () => {
  const change = (before: readonly string[], after?: readonly string[]) =>
    validateServiceCIDRUpdate(range(before), range(after)).map(errorText);
  const [four, six] = ['10.97.0.0/24', 'fd00:97::/112'];
  assert.deepEqual(change([four], [four, six]), []);
  assert.deepEqual(change([four], [six, four]), [
    `spec.cidrs[0]: Invalid value: "${six}": field is immutable`,
  ]);
  assert.deepEqual(change([four], [four, '10.98.0.0/24']), [
    `spec.cidrs: Invalid value: ["${four}","10.98.0.0/24"]: ${perFamily}`,
  ]);
  assert.deepEqual(change([four, six], [four]), [
    `spec.cidrs: Invalid value: ["${four}"]: field is immutable`,
  ]);
  assert.deepEqual(change([four]), ['spec.cidrs: Invalid value: null: field is immutable']);
});
