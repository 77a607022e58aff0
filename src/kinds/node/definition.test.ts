import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorText } from '../../meta/field-error.ts';
import { decode } from '../../schema/decode.ts';
import { nodeColumns } from './columns.ts';
import { defaultNode } from './defaults.ts';
import { prepareNodeCreate } from './prepare.ts';
import { type Node, nodeSchema } from './types.ts';
import { validateNode, validateNodeUpdate } from './validate.ts';
import { nodeWarnings } from './warnings.ts';

function node({
  metadata = {},
  spec = {},
  status = {},
}: Partial<Record<keyof Node, object>>): Node {
  const { object } = decode(nodeSchema, {
    kind: 'Node',
    apiVersion: 'v1',
    metadata: { name: 'n', ...metadata },
    spec,
    status,
  });
  return defaultNode(object as Node);
}

test('defaultNode() keeps podCIDR and podCIDRs consistent', () => {
  const cases: readonly [object, string, readonly string[]][] = [
    [{ podCIDR: '10.1.0.0/24' }, '10.1.0.0/24', ['10.1.0.0/24']],
    [{ podCIDRs: ['10.1.0.0/24', 'fd00::/64'] }, '10.1.0.0/24', ['10.1.0.0/24', 'fd00::/64']],
    [{ podCIDR: '10.9.0.0/24', podCIDRs: ['10.1.0.0/24'] }, '10.9.0.0/24', ['10.9.0.0/24']],
  ];
  for (const [spec, podCIDR, podCIDRs] of cases) {
    const defaulted = node({ spec });
    assert.equal(defaulted.spec.podCIDR, podCIDR);
    assert.deepEqual(defaulted.spec.podCIDRs, podCIDRs);
  }
  assert.deepEqual(node({ status: { capacity: { cpu: '2000m' } } }).status.allocatable, {
    cpu: '2',
  });
});

test('defaultNode() rounds quantities up to thousandths', () => {
  const { capacity, allocatable } = node({ status: { capacity: { cpu: '100u' } } }).status;
  assert.deepEqual([capacity, allocatable], [{ cpu: '1m' }, { cpu: '1m' }]);
});

test('prepareNodeCreate() taints a node once', () => {
  const created = prepareNodeCreate(node({}));
  const taint = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' };
  assert.deepEqual(created.spec.taints, [taint]);
  assert.deepEqual(prepareNodeCreate(created).spec.taints, [taint]);
});

test('prepareNodeCreate() drops dynamic configuration', () => {
  const { spec, status } = prepareNodeCreate(
    node({ spec: { configSource: {} }, status: { config: {} } }),
  );
  assert.equal(spec.configSource, undefined);
  assert.equal(status.config, undefined);
});

test('nodeWarnings() of useless fields and ranges that are not canonical (API-66)', () => {
  assert.deepEqual(nodeWarnings(node({ spec: { externalID: 'x', podCIDRs: ['FD00::/64'] } })), [
    'spec.externalID: this field is deprecated, and is unused by Kubernetes',
    'spec.podCIDRs[0]: IPv6 CIDR value "FD00::/64" should be in RFC 5952 canonical format ("fd00::/64")',
  ]);
});

const refused: readonly [string, object, readonly string[]][] = [
  [
    'range that is none',
    { spec: { podCIDR: 'x' } },
    [
      'spec.podCIDRs[0]: Invalid value: "x": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)',
    ],
  ],
  [
    'a range twice',
    { spec: { podCIDRs: ['10.1.0.0/24', '10.1.0.0/24'] } },
    [
      'spec.podCIDRs: Invalid value: ["10.1.0.0/24","10.1.0.0/24"]: may specify no more than one CIDR for each IP family',
      'spec.podCIDRs[1]: Duplicate value: "10.1.0.0/24"',
    ],
  ],
  [
    'two ranges of which one is none',
    { spec: { podCIDRs: ['10.1.0.0/24', 'x'] } },
    [
      'spec.podCIDRs[1]: Invalid value: "x": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)',
      'spec.podCIDRs: Internal error: invalid PodCIDRs. failed to check with dual stack with error:invalid CIDR[1]: <nil> (invalid CIDR address: x)',
      'spec.podCIDRs: Invalid value: ["10.1.0.0/24","x"]: may specify no more than one CIDR for each IP family',
    ],
  ],
  [
    'two ranges of a family',
    { spec: { podCIDRs: ['10.1.0.0/24', '10.2.0.0/24'] } },
    [
      'spec.podCIDRs: Invalid value: ["10.1.0.0/24","10.2.0.0/24"]: may specify no more than one CIDR for each IP family',
    ],
  ],
  [
    'repeated taint',
    {
      spec: {
        taints: [
          { key: 'a', effect: 'NoSchedule' },
          { key: 'a', value: 'x', effect: 'NoSchedule' },
        ],
      },
    },
    [
      'metadata.taints[1]: Duplicate value: {"Key":"a","Value":"x","Effect":"NoSchedule","TimeAdded":null}: taints must be unique by key and effect pair',
    ],
  ],
  [
    'taint without effect',
    { spec: { taints: [{ key: 'a' }] } },
    ['metadata.taints[0].effect: Required value'],
  ],
  [
    'part of a pod',
    { status: { capacity: { pods: '1.5' }, allocatable: { pods: '1' } } },
    ['status.capacity.pods: Invalid value: "1500m": must be an integer'],
  ],
];

for (const [name, given, wanted] of refused) {
  test(`validateNode() refuses: ${name}`, () => {
    assert.deepEqual(validateNode(node(given)).map(errorText), wanted);
  });
}

test('validateNodeUpdate() accepts ranges once', () => {
  const before = node({ spec: { podCIDR: '10.1.0.0/24' } });
  const after = node({ spec: { podCIDR: '10.2.0.0/24' } });
  assert.deepEqual(validateNodeUpdate(node({}), before), []);
  assert.deepEqual(validateNodeUpdate(before, after).map(errorText), [
    'spec.podCIDRs: Forbidden: node updates may not change podCIDR except from "" to valid',
  ]);
});

test('nodeColumns shows state, roles and addresses', () => {
  const shown = node({
    metadata: {
      labels: { 'node-role.kubernetes.io/control-plane': '', 'kubernetes.io/role': 'b' },
    },
    spec: { unschedulable: true },
    status: {
      conditions: [{ type: 'Ready', status: 'True' }],
      addresses: [{ type: 'InternalIP', address: '10.0.0.5' }],
      nodeInfo: { kubeletVersion: 'v1.36.4' },
    },
  });
  const cells = nodeColumns.map((column) => column.cell(shown, 0));
  assert.deepEqual(cells, [
    'n',
    'Ready,SchedulingDisabled',
    'b,control-plane',
    '<unknown>',
    'v1.36.4',
    '10.0.0.5',
    '<none>',
    '<unknown>',
    '<unknown>',
    '<unknown>',
  ]);
  assert.equal(nodeColumns[1]?.cell(node({}), 0), 'Unknown');
});
