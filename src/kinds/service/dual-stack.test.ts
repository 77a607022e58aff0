// Single and dual stack, from the request to allocated and released addresses.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorText } from '../../meta/field-error.ts';
import { planAddresses } from './allocation.ts';
import { exampleService, sentService } from './example.ts';
import { settleIPFamilies } from './ip-families.ts';
import { completeCreate, completeUpdate } from './keep-allocated.ts';
import {
  type IPFamily,
  type Service,
  type ServiceSpec,
  type SpecChanges,
  withSpec,
} from './types.ts';

const dual: readonly IPFamily[] = ['IPv4', 'IPv6'];
const four: readonly IPFamily[] = ['IPv4'];
const sixFirst: readonly IPFamily[] = ['IPv6', 'IPv4'];

type Settled = {
  readonly policy: string | undefined;
  readonly families: string | undefined;
  /** Of each address that is taken: its family, or the address asked for. */
  readonly take: string;
  readonly giveBack: string;
};

function settle(
  before: Service | undefined,
  after: Service,
  families: readonly IPFamily[],
): Settled | readonly string[] {
  const whole = before === undefined ? completeCreate(after) : completeUpdate(before, after);
  const outcome = settleIPFamilies({
    ...(before === undefined ? {} : { before }),
    after: whole,
    families,
  });
  if ('errors' in outcome) return outcome.errors.map(errorText);
  const { ipFamilyPolicy, ipFamilies } = outcome.service.spec;
  const { take, giveBack } = planAddresses(before, outcome.service);
  return {
    policy: ipFamilyPolicy,
    families: ipFamilies?.join(),
    take: take.map(({ family, address }) => address ?? family).join(),
    giveBack: giveBack.join(),
  };
}

const headless: ServiceSpec = { clusterIP: 'None' };
const selecting: ServiceSpec = { ...headless, selector: { app: 'a' } };
const twoIPs: ServiceSpec = { clusterIP: '10.96.0.9', clusterIPs: ['10.96.0.9', 'fd00:96::9'] };
const got = (policy: string, families: string, take = families): Settled => ({
  policy,
  families,
  take,
  giveBack: '',
});
const refused = (field: string, value: string, why: string): readonly string[] => [
  `spec.${field}: Invalid value: ${value}: ${why}`,
];
const several = (what: string): string =>
  `must be 'RequireDualStack' or 'PreferDualStack' when multiple ${what} are specified`;

const creates: readonly [string, ServiceSpec, readonly IPFamily[], Settled | readonly string[]][] =
  [
    ['nothing said (DST-01, DST-03)', {}, dual, got('SingleStack', 'IPv4')],
    ['nothing said where IPv6 comes first (DST-03)', {}, sixFirst, got('SingleStack', 'IPv6')],
    ['headless with selector (DST-01)', selecting, dual, got('SingleStack', 'IPv4', '')],
    ['headless without (DST-01)', headless, dual, got('RequireDualStack', 'IPv4,IPv6', '')],
    [
      'headless without, on one family (DST-13)',
      headless,
      four,
      got('RequireDualStack', 'IPv4,IPv6', ''),
    ],
    [
      'headless without, both families named, on one (DST-13)',
      { ...headless, ipFamilyPolicy: 'PreferDualStack', ipFamilies: ['IPv6', 'IPv4'] },
      four,
      got('PreferDualStack', 'IPv6,IPv4', ''),
    ],
    [
      'headless with selector, required on one family (DST-05)',
      { ...selecting, ipFamilyPolicy: 'RequireDualStack' },
      four,
      refused(
        'ipFamilyPolicy',
        '"RequireDualStack"',
        'this cluster is not configured for dual-stack services',
      ),
    ],
    [
      'PreferDualStack on two families (DST-04)',
      { ipFamilyPolicy: 'PreferDualStack' },
      dual,
      got('PreferDualStack', 'IPv4,IPv6'),
    ],
    [
      'PreferDualStack on one (DST-04)',
      { ipFamilyPolicy: 'PreferDualStack' },
      four,
      got('PreferDualStack', 'IPv4'),
    ],
    [
      'PreferDualStack where IPv6 comes first (DST-07)',
      { ipFamilyPolicy: 'PreferDualStack' },
      sixFirst,
      got('PreferDualStack', 'IPv6,IPv4'),
    ],
    [
      'RequireDualStack, one family named (DST-07)',
      { ipFamilyPolicy: 'RequireDualStack', ipFamilies: ['IPv6'] },
      dual,
      got('RequireDualStack', 'IPv6,IPv4'),
    ],
    [
      'RequireDualStack on one family (DST-05)',
      { ipFamilyPolicy: 'RequireDualStack' },
      four,
      refused(
        'ipFamilyPolicy',
        '"RequireDualStack"',
        'this cluster is not configured for dual-stack services',
      ),
    ],
    [
      'the second of two families missing (DST-06)',
      { ipFamilyPolicy: 'PreferDualStack', ipFamilies: ['IPv4', 'IPv6'] },
      four,
      refused('ipFamilies[1]', '"IPv6"', 'not configured on this cluster'),
    ],
    [
      'an address of a family that is missing (DST-06)',
      { clusterIP: 'fd00:96::9' },
      four,
      refused('clusterIPs[0]', '["fd00:96::9"]', 'IPv6 is not configured on this cluster'),
    ],
    [
      'two addresses say both families (DST-08)',
      { ...twoIPs, ipFamilyPolicy: 'PreferDualStack' },
      dual,
      got('PreferDualStack', 'IPv4,IPv6', '10.96.0.9,fd00:96::9'),
    ],
    [
      'an IPv6 address alone (DST-08)',
      { clusterIP: 'fd00:96::9', ipFamilyPolicy: 'PreferDualStack' },
      dual,
      got('PreferDualStack', 'IPv6,IPv4', 'fd00:96::9,IPv4'),
    ],
    [
      'two addresses under SingleStack (DST-09)',
      twoIPs,
      dual,
      refused('ipFamilyPolicy', '"SingleStack"', several('cluster IPs')),
    ],
    [
      'two families under SingleStack (DST-09)',
      { ipFamilyPolicy: 'SingleStack', ipFamilies: ['IPv4', 'IPv6'] },
      dual,
      refused('ipFamilyPolicy', '"SingleStack"', several('IP families')),
    ],
    [
      'ExternalName (DST-14)',
      { type: 'ExternalName', externalName: 'a.example' },
      dual,
      { policy: undefined, families: undefined, take: '', giveBack: '' },
    ],
  ];

for (const [what, spec, families, wanted] of creates) {
  test(`a new service: ${what}`, () => {
    assert.deepEqual(settle(undefined, sentService(spec), families), wanted);
  });
}

const one = exampleService();
const both: ServiceSpec = {
  clusterIPs: ['10.96.0.20', 'fd00:96::20'],
  ipFamilies: ['IPv4', 'IPv6'],
};
const preferring = exampleService({ spec: { ...both, ipFamilyPolicy: 'PreferDualStack' } });
const requiring = exampleService({ spec: { ...both, ipFamilyPolicy: 'RequireDualStack' } });
const early = exampleService({ spec: { ipFamilyPolicy: 'PreferDualStack' } });
const unsaid = { ipFamilyPolicy: undefined, ipFamilies: undefined };

const updates: readonly [
  string,
  Service,
  SpecChanges,
  readonly IPFamily[],
  Settled | readonly string[],
][] = [
  [
    'the policy is left out (DST-02)',
    requiring,
    unsaid,
    dual,
    got('RequireDualStack', 'IPv4,IPv6', ''),
  ],
  [
    'SingleStack becomes PreferDualStack (DST-10)',
    one,
    { ipFamilyPolicy: 'PreferDualStack' },
    dual,
    got('PreferDualStack', 'IPv4,IPv6', 'IPv6'),
  ],
  [
    'SingleStack becomes RequireDualStack with an address (DST-10)',
    one,
    { ipFamilyPolicy: 'RequireDualStack', clusterIPs: ['10.96.0.20', 'fd00:96::7'] },
    dual,
    got('RequireDualStack', 'IPv4,IPv6', 'fd00:96::7'),
  ],
  [
    'SingleStack becomes PreferDualStack on one family (DST-04, DST-10)',
    one,
    { ipFamilyPolicy: 'PreferDualStack' },
    four,
    got('PreferDualStack', 'IPv4', ''),
  ],
  [
    'it becomes SingleStack (DST-11)',
    requiring,
    { ipFamilyPolicy: 'SingleStack' },
    dual,
    { ...got('SingleStack', 'IPv4', ''), giveBack: 'fd00:96::20' },
  ],
  [
    'the second address is left out without SingleStack (DST-11)',
    requiring,
    { clusterIPs: ['10.96.0.20'] },
    dual,
    refused(
      'ipFamilyPolicy',
      '"RequireDualStack"',
      "must be 'SingleStack' to release the secondary cluster IP",
    ),
  ],
  [
    'the cluster has lost a family (DST-12)',
    preferring,
    { publishNotReadyAddresses: true },
    four,
    got('PreferDualStack', 'IPv4,IPv6', ''),
  ],
  [
    'the cluster has gained a family (DST-12)',
    early,
    { publishNotReadyAddresses: true },
    dual,
    got('PreferDualStack', 'IPv4', ''),
  ],
  [
    'the second family is asked for after the cluster gained it (DST-12)',
    early,
    { ipFamilies: ['IPv4', 'IPv6'] },
    dual,
    got('PreferDualStack', 'IPv4,IPv6', 'IPv6'),
  ],
];

for (const [what, before, spec, families, wanted] of updates) {
  test(`a stored service: ${what}`, () => {
    assert.deepEqual(settle(before, withSpec(before, spec), families), wanted);
  });
}
