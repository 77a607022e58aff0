// An account with what a cluster finds there: two zones with public and private subnets, instances with their group, certificates, and
// things that belong to others.
import { exampleNode } from '../../src/cloud/example.ts';
import type { Node } from '../../src/kinds/node/types.ts';
import type { Account, Instance, SecurityGroup, Subnet } from './world.ts';

export const exampleCluster = 'lab';
const clusterTag = `kubernetes.io/cluster/${exampleCluster}`;
export const exampleCertificate = 'arn:aws:acm:test-1:000000000000:certificate/one';
export const otherCertificate = 'arn:aws:acm:test-1:000000000000:certificate/two';
export const nodeGroup = 'sg-nodes';
export const lentGroups = ['sg-lent1', 'sg-lent2'] as const;

const vpcId = 'vpc-1';

const subnet = (id: string, zone: string, cidr: string, isPublic: boolean): Subnet => ({
  ...{ id, vpcId, zone, cidr, isPublic },
  tags: {
    [clusterTag]: 'shared',
    [isPublic ? 'kubernetes.io/role/elb' : 'kubernetes.io/role/internal-elb']: '1',
  },
});

const group = (id: string, tags: Readonly<Record<string, string>>): SecurityGroup => ({
  ...{ id, name: id, description: 'made by a person', vpcId, tags },
  permissions: new Map(),
});

const nodeNames = ['n1', 'n2', 'n3', 'n4'] as const;

const byId = <T extends { readonly id: string }>(all: readonly T[]): ReadonlyMap<string, T> =>
  new Map(all.map((one) => [one.id, one]));

export function exampleAccount(): Account {
  const instances = nodeNames.map(
    (name): Instance => ({ id: `i-${name}`, state: 'running', groups: [nodeGroup, 'sg-default'] }),
  );
  return {
    classic: new Map(),
    network: new Map(),
    listeners: new Map(),
    targetGroups: new Map(),
    groups: byId([
      group(nodeGroup, { [clusterTag]: 'owned' }),
      group('sg-default', {}),
      ...lentGroups.map((id) => group(id, {})),
    ]),
    subnets: byId([
      subnet('subnet-a-public', 'test-1a', '10.0.1.0/24', true),
      subnet('subnet-b-public', 'test-1b', '10.0.2.0/24', true),
      subnet('subnet-a-private', 'test-1a', '10.0.3.0/24', false),
      subnet('subnet-b-private', 'test-1b', '10.0.4.0/24', false),
      { ...subnet('subnet-other', 'test-1c', '10.0.5.0/24', true), tags: {} },
    ]),
    instances: byId(instances),
    certificates: [exampleCertificate, otherCertificate],
  };
}

export const exampleNodes: readonly Node[] = nodeNames.map((name, at) =>
  exampleNode(name, `10.0.1.${at + 10}`, `aws:///test-1a/i-${name}`),
);
