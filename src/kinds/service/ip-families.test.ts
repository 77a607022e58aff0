import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorText } from '../../meta/field-error.ts';
import { exampleService, sentService } from './example.ts';
import { type FamilyOutcome, settleIPFamilies } from './ip-families.ts';
import type { IPFamily, ServiceSpec } from './types.ts';

const dual: readonly IPFamily[] = ['IPv4', 'IPv6'];
const four: readonly IPFamily[] = ['IPv4'];
const single: ServiceSpec = {
  ipFamilyPolicy: 'SingleStack',
  ipFamilies: ['IPv4'],
};

function shown(outcome: FamilyOutcome): unknown {
  if ('errors' in outcome) return outcome.errors.map(errorText);
  const { ipFamilyPolicy, ipFamilies, clusterIPs } = outcome.service.spec;
  return { ipFamilyPolicy, ipFamilies, ...(clusterIPs === undefined ? {} : { clusterIPs }) };
}

const creates: readonly [string, ServiceSpec, readonly IPFamily[], unknown][] = [
  ['is single stack in the default family', {}, dual, single],
  [
    'prefers one family where there is one',
    { ipFamilyPolicy: 'PreferDualStack' },
    four,
    {
      ipFamilyPolicy: 'PreferDualStack',
      ipFamilies: ['IPv4'],
    },
  ],
  [
    'adds the other family after the one named',
    {
      ipFamilyPolicy: 'PreferDualStack',
      ipFamilies: ['IPv6'],
    },
    dual,
    { ipFamilyPolicy: 'PreferDualStack', ipFamilies: ['IPv6', 'IPv4'] },
  ],
  [
    'infers families from addresses',
    {
      clusterIP: 'fd00::1',
      clusterIPs: ['fd00::1'],
    },
    dual,
    { ipFamilyPolicy: 'SingleStack', ipFamilies: ['IPv6'], clusterIPs: ['fd00::1'] },
  ],
  [
    'gives a headless service without selector both families on any cluster',
    {
      clusterIP: 'None',
      clusterIPs: ['None'],
    },
    four,
    {
      ipFamilyPolicy: 'RequireDualStack',
      ipFamilies: ['IPv4', 'IPv6'],
      clusterIPs: ['None'],
    },
  ],
  [
    'refuses to require what the cluster lacks',
    { ipFamilyPolicy: 'RequireDualStack' },
    four,
    [
      'spec.ipFamilyPolicy: Invalid value: "RequireDualStack": this cluster is not configured for dual-stack services',
    ],
  ],
  [
    'refuses a family that the cluster lacks',
    { ipFamilies: ['IPv6'] },
    four,
    ['spec.ipFamilies[0]: Invalid value: "IPv6": not configured on this cluster'],
  ],
  [
    'names the address whose family the cluster lacks',
    {
      clusterIP: 'fd00::1',
      clusterIPs: ['fd00::1'],
    },
    four,
    ['spec.clusterIPs[0]: Invalid value: ["fd00::1"]: IPv6 is not configured on this cluster'],
  ],
  [
    'refuses two of anything without a dual-stack policy',
    {
      clusterIP: '10.96.0.1',
      clusterIPs: ['10.96.0.1', 'fd00::1'],
      ipFamilies: ['IPv4', 'IPv6'],
    },
    dual,
    [
      "spec.ipFamilyPolicy: Invalid value: \"SingleStack\": must be 'RequireDualStack' or 'PreferDualStack' when multiple cluster IPs are specified",
      "spec.ipFamilyPolicy: Invalid value: \"SingleStack\": must be 'RequireDualStack' or 'PreferDualStack' when multiple IP families are specified",
    ],
  ],
  [
    'reports malformed fields alone',
    { ipFamilyPolicy: 'SingleStack', clusterIPs: ['10.96.0.1'] },
    dual,
    [
      'spec.clusterIPs: Invalid value: ["10.96.0.1"]: must be empty when `clusterIP` is not specified',
    ],
  ],
];

for (const [name, spec, families, wanted] of creates) {
  test(`settleIPFamilies() ${name}`, () => {
    assert.deepEqual(shown(settleIPFamilies({ after: sentService(spec), families })), wanted);
  });
}

const dualService = exampleService({
  spec: {
    clusterIPs: ['10.96.0.20', 'fd00::20'],
    ipFamilies: ['IPv4', 'IPv6'],
    ipFamilyPolicy: 'PreferDualStack',
  },
});

function change(spec: ServiceSpec, families: readonly IPFamily[] = dual): unknown {
  const after = exampleService({ spec: { ...dualService.spec, ...spec } });
  return shown(settleIPFamilies({ before: dualService, after, families }));
}

test('settleIPFamilies() leaves an unchanged PreferDualStack service alone on any cluster', () => {
  assert.deepEqual(change({ publishNotReadyAddresses: true }, four), {
    ipFamilyPolicy: 'PreferDualStack',
    ipFamilies: ['IPv4', 'IPv6'],
    clusterIPs: ['10.96.0.20', 'fd00::20'],
  });
});

test('settleIPFamilies() drops the second address and family under SingleStack', () => {
  assert.deepEqual(change({ ipFamilyPolicy: 'SingleStack' }), {
    ...single,
    clusterIPs: ['10.96.0.20'],
  });
});

test('settleIPFamilies() requires SingleStack to release the second address', () => {
  const error = (what: string): string =>
    `spec.ipFamilyPolicy: Invalid value: "PreferDualStack": must be 'SingleStack' to release the secondary ${what}`;
  assert.deepEqual(change({ clusterIPs: ['10.96.0.20'] }), [error('cluster IP')]);
  assert.deepEqual(change({ ipFamilies: ['IPv4'] }), [error('IP family')]);
});

test('settleIPFamilies() keeps the stored policy when none is given', () => {
  const { ipFamilyPolicy: _policy, ipFamilies: _families, ...spec } = dualService.spec;
  const after = { ...dualService, spec };
  assert.deepEqual(shown(settleIPFamilies({ before: dualService, after, families: dual })), {
    ipFamilyPolicy: 'PreferDualStack',
    ipFamilies: ['IPv4', 'IPv6'],
    clusterIPs: ['10.96.0.20', 'fd00::20'],
  });
});

test('settleIPFamilies() completes a Service of an old version on its next write (API-61)', () => {
  const { ipFamilyPolicy: _policy, ipFamilies: _families, ...spec } = exampleService().spec;
  const old = { ...exampleService(), spec };
  assert.deepEqual(shown(settleIPFamilies({ before: old, after: old, families: dual })), {
    ...single,
    clusterIPs: ['10.96.0.20'],
  });
  const headless = { ...old, spec: { ...spec, clusterIP: 'None', clusterIPs: ['None'] } };
  assert.deepEqual(shown(settleIPFamilies({ before: headless, after: headless, families: dual })), {
    ipFamilyPolicy: 'RequireDualStack',
    ipFamilies: ['IPv4', 'IPv6'],
    clusterIPs: ['None'],
  });
});
