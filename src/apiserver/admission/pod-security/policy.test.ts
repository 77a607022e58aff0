import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorText } from '../../../meta/field-error.ts';
import { modes, policyOf, policyText, privilegedPolicy } from './policy.ts';

const label = 'pod-security.kubernetes.io/';
const cases: readonly {
  readonly title: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Of enforce, audit and warn. */
  readonly policy: string;
  readonly errors?: readonly string[];
}[] = [
  {
    title: 'no label',
    labels: {},
    policy: 'privileged:latest privileged:latest privileged:latest',
  },
  {
    title: 'enforce alone, which also warns',
    labels: { enforce: 'baseline', 'enforce-version': 'v1.20' },
    policy: 'baseline:v1.20 privileged:latest baseline:v1.20',
  },
  {
    title: 'a version to warn of',
    labels: { enforce: 'baseline', 'warn-version': 'v1.9' },
    policy: 'baseline:latest privileged:latest baseline:v1.9',
  },
  {
    title: 'a level to warn of that is less',
    labels: { enforce: 'restricted', warn: 'privileged', audit: 'baseline' },
    policy: 'restricted:latest baseline:latest privileged:latest',
  },
  {
    title: 'a version far ahead',
    labels: { enforce: 'restricted', 'enforce-version': 'v1.99' },
    policy: 'restricted:v1.99 privileged:latest restricted:v1.99',
  },
  {
    title: 'values that are none',
    labels: { enforce: 'x', audit: 'y', warn: '', 'warn-version': 'v1.05', 'enforce-version': '1' },
    policy: 'restricted:latest privileged:latest privileged:latest',
    errors: [
      `metadata.labels[${label}enforce]: Invalid value: "x": must be one of privileged, baseline, restricted`,
      `metadata.labels[${label}enforce-version]: Invalid value: "1": must be "latest" or "v1.x"`,
      `metadata.labels[${label}audit]: Invalid value: "y": must be one of privileged, baseline, restricted`,
      `metadata.labels[${label}warn]: Invalid value: "": must be one of privileged, baseline, restricted`,
      `metadata.labels[${label}warn-version]: Invalid value: "v1.05": must be "latest" or "v1.x"`,
    ],
  },
];

for (const { title, labels, policy, errors = [] } of cases) {
  test(`policyOf() reads ${title}`, () => {
    const named = Object.fromEntries(Object.entries(labels).map(([k, v]) => [`${label}${k}`, v]));
    const found = policyOf(named, privilegedPolicy);
    assert.equal(modes.map((mode) => policyText(found.policy[mode])).join(' '), policy);
    assert.deepEqual(found.errors.map(errorText), errors);
  });
}
