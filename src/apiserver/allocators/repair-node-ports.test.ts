import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parsePortRange } from '../../ip/port-range.ts';
import { examplePort, exampleService } from '../../kinds/service/example.ts';
import type { Service } from '../../kinds/service/types.ts';
import { judgeNodePorts, type PortLeaks } from './repair-node-ports.ts';

const range = parsePortRange('30000-30010') ?? { first: 0, last: 0 };

function service(name: string, ports: readonly number[], second = 0): Service {
  const creationTimestamp = `2026-01-01T00:00:0${second}Z`;
  const base = exampleService({ spec: { type: 'NodePort' } });
  return {
    ...base,
    metadata: { ...base.metadata, name, namespace: 'ns', creationTimestamp },
    spec: {
      ...base.spec,
      ports: ports.map((nodePort, index) => examplePort({ port: 80 + index, nodePort })),
    },
  };
}

type Case = {
  readonly title: string;
  /** In how many previous checks all reservations were unused; absent: in none. */
  readonly checks?: number;
  readonly services: readonly Service[];
  /** Port and owner; the revision is ten times the place in the list, from one. */
  readonly reserved: readonly (readonly [number, string])[];
  readonly findings: readonly string[];
  readonly repairs: readonly string[];
};

const cases: readonly Case[] = [
  {
    title: 'changes nothing that agrees',
    services: [service('a', [30001, 30002]), service('b', [30003])],
    reserved: [
      [30001, 'ns/a'],
      [30002, 'ns/a'],
      [30003, 'ns/b'],
    ],
    findings: [],
    repairs: [],
  },
  {
    title: 'reserves a port that a service has without a reservation (NPT-16)',
    services: [service('a', [30001])],
    reserved: [],
    findings: ['a PortNotAllocated Port 30001 is not allocated; repairing'],
    repairs: ['30001@0 to a'],
  },
  {
    title: 'releases the port of a deleted service on the third check (NPT-15)',
    checks: 2,
    services: [],
    reserved: [[30001, 'ns/gone']],
    findings: [],
    repairs: ['30001@10 from ns/gone'],
  },
  {
    title:
      'frees what is kept for a service that has another port, also outside the range (NPT-15)',
    checks: 7,
    services: [service('a', [30002])],
    reserved: [
      [30002, 'ns/a'],
      [40000, 'ns/a'],
    ],
    findings: [],
    repairs: ['40000@20 from ns/a'],
  },
  {
    title: 'keeps an unused reservation before the third check (NPT-15)',
    checks: 1,
    services: [],
    reserved: [[30001, 'ns/gone']],
    findings: [],
    repairs: [],
  },
  {
    title: 'corrects a reservation of the wrong service',
    services: [service('a', [30001])],
    reserved: [[30001, 'ns/gone']],
    findings: ['a PortNotAllocated Port 30001 is not allocated; repairing'],
    repairs: ['30001@10 to a from ns/gone'],
  },
  {
    title: 'leaves a port of two services with the one that has the reservation (NPT-16)',
    services: [service('a', [30001], 1), service('b', [30001], 2)],
    reserved: [[30001, 'ns/b']],
    findings: [
      'a PortAlreadyAllocated Port 30001 was assigned to multiple services; please recreate service',
    ],
    repairs: [],
  },
  {
    title: 'gives a port of two services to the older one when neither has the reservation',
    services: [service('b', [30001], 2), service('a', [30001], 3)],
    reserved: [],
    findings: [
      'b PortNotAllocated Port 30001 is not allocated; repairing',
      'a PortAlreadyAllocated Port 30001 was assigned to multiple services; please recreate service',
    ],
    repairs: ['30001@0 to b'],
  },
  {
    title: 'reports a port outside the range and keeps its reservation (NPT-16)',
    services: [service('a', [40000])],
    reserved: [[40000, 'ns/a']],
    findings: [
      'a PortOutOfRange Port 40000 is not within the port range 30000-30010; please recreate service',
    ],
    repairs: [],
  },
];

for (const { title, checks = 0, services, reserved, findings, repairs } of cases) {
  test(`judgeNodePorts() ${title}`, () => {
    const verdict = judgeNodePorts({
      services,
      reservations: reserved.map(([port, owner], index) => [
        port,
        { service: owner, revision: 10 * (index + 1) },
      ]),
      range,
      leaks: new Map(
        reserved.map(([port], index) => [port, { revision: 10 * (index + 1), checks }]),
      ),
    });
    assert.deepEqual(
      verdict.findings.map((one) => `${one.service.metadata.name} ${one.reason} ${one.message}`),
      findings,
    );
    assert.deepEqual(
      verdict.repairs.map(({ port, revision, owner, formerOwner }) =>
        [
          `${port}@${revision}`,
          ...(owner === undefined ? [] : [`to ${owner.metadata.name}`]),
          ...(formerOwner === undefined ? [] : [`from ${formerOwner}`]),
        ].join(' '),
      ),
      repairs,
    );
  });
}

test('judgeNodePorts() begins to count anew when a port was held meanwhile, or reserved again (NPT-15)', () => {
  const check = (
    leaks: PortLeaks,
    revision: number,
    services: readonly Service[] = [],
  ): PortLeaks =>
    judgeNodePorts({
      services,
      reservations: [[30001, { service: 'ns/a', revision }]],
      range,
      leaks,
    }).leaks;
  const checks = (leaks: PortLeaks): number | undefined => leaks.get(30001)?.checks;
  const once = check(new Map(), 10);
  const twice = check(once, 10);
  assert.deepEqual([checks(once), checks(twice)], [1, 2]);
  assert.equal(checks(check(twice, 10, [service('a', [30001])])), undefined);
  assert.equal(checks(check(twice, 20)), 1);
});
