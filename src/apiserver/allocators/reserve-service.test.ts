import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseCidr } from '../../ip/cidr.ts';
import { serviceDefinition } from '../../kinds/service/definition.ts';
import { examplePort, exampleService, sentService } from '../../kinds/service/example.ts';
import { type Service, type ServiceSpec, withSpec } from '../../kinds/service/types.ts';
import type { KubeObject } from '../../meta/object.ts';
import type { Write } from '../../storage/store.ts';
import type { Reservation } from '../objects/reservation.ts';
import { createNodePortView, nodePortKey, nodePortValue } from './node-port-view.ts';
import { createNumberSet } from './number-set.ts';
import { reserveService } from './reserve-service.ts';

const cidrTexts = ['10.96.0.0/24', 'fd00:96::/120'];
const parent = { resource: 'services', namespace: 'default', name: 'web' };
const addresses = '/registry/ipaddresses.networking.k8s.io/';

function ipAddress(name: string, parentRef: object, more: object = {}): KubeObject {
  const metadata = { name, resourceVersion: '7', ...more };
  const apiVersion = 'networking.k8s.io/v1';
  return { kind: 'IPAddress', apiVersion, metadata, spec: { parentRef } } as KubeObject;
}

type World = {
  readonly objects?: Readonly<Record<string, KubeObject>>;
  readonly ports?: Readonly<Record<number, string>>;
};

function reserveIn({ objects = {}, ports = {} }: World) {
  const nodePorts = createNodePortView();
  nodePorts.load(
    Object.entries(ports).map(([port, service]) => ({
      key: nodePortKey(Number(port)),
      value: nodePortValue(service),
      revision: 9,
      createRevision: 9,
    })),
  );
  const serviceCidr = {
    kind: 'ServiceCIDR',
    apiVersion: 'networking.k8s.io/v1',
    metadata: { name: 'kubernetes' },
    spec: { cidrs: cidrTexts },
    status: {},
  };
  const reserve = reserveService({
    reader: {
      get: (resource, namespace, name) => objects[`${resource}/${namespace}/${name}`],
      list: () => [serviceCidr],
      revision: () => 1,
    },
    addresses: {
      firstFree: (_family, from, to) => createNumberSet().firstGap(from, to),
      pending: { IPv4: new Set(), IPv6: new Set() },
    },
    nodePorts,
    config: {
      serviceCidrs: cidrTexts.flatMap((text) => parseCidr(text) ?? []),
      nodePortRange: { first: 30000, last: 32767 },
    },
    random: () => 0,
    newUid: () => 'uid-1',
    now: () => 0,
  });
  return (before: Service | undefined, after: Service | undefined, dryRun = false): Reservation =>
    reserve({
      definition: serviceDefinition,
      ...(before === undefined ? {} : { before }),
      ...(after === undefined ? {} : { after }),
      dryRun,
    });
}

/** Keys with the revisions they must have, marked by what happens to them. */
function steps({ compare, write }: Reservation): readonly string[] {
  const verb = (step: Write | undefined): string => (step && 'put' in step ? 'put' : 'delete');
  return compare.map(({ key, revision }, i) => `${verb(write[i])} ${key} ${revision}`);
}

const specOf = ({ object }: Reservation): ServiceSpec => (object as Service).spec;

test('reserveService() takes addresses and ports of a new service in one write (IPA-07, IPA-14, IPA-35, NPT-03)', () => {
  const after = sentService({
    type: 'NodePort',
    ipFamilyPolicy: 'PreferDualStack',
    ports: [examplePort()],
  });
  const reservation = reserveIn({})(undefined, after);
  assert.deepEqual(specOf(reservation).clusterIPs, ['10.96.0.17', 'fd00:96::11']);
  assert.equal(specOf(reservation).ports?.[0]?.nodePort, 30086);
  assert.deepEqual(steps(reservation), [
    `put ${addresses}10.96.0.17 0`,
    `put ${addresses}fd00:96::11 0`,
    'put /registry/nodeports/30086 0',
  ]);
});

test('reserveService() takes and writes nothing in a dry run', () => {
  const after = sentService({ type: 'NodePort', ports: [examplePort()] });
  const reservation = reserveIn({})(undefined, after, true);
  assert.deepEqual(steps(reservation), []);
  assert.equal(specOf(reservation).clusterIP, '10.96.0.0');
});

test('reserveService() reports families that cannot be had alone', () => {
  const after = sentService({ ipFamilies: ['IPv4', 'IPv6'], ports: [] });
  assert.throws(() => reserveIn({})(undefined, after), /when multiple IP families are specified/);
});

const holder = exampleService({
  spec: {
    type: 'NodePort',
    clusterIPs: ['10.96.0.20', 'fd00:96::20'],
    ipFamilies: ['IPv4', 'IPv6'],
    ipFamilyPolicy: 'PreferDualStack',
    ports: [examplePort({ nodePort: 30001 })],
  },
});
const held: World = {
  objects: {
    'ipaddresses.networking.k8s.io//10.96.0.20': ipAddress('10.96.0.20', parent),
    'ipaddresses.networking.k8s.io//fd00:96::20': ipAddress('fd00:96::20', parent),
  },
  ports: { 30001: 'default/web', 30002: 'default/other' },
};

test('reserveService() writes nothing for an update that keeps everything', () => {
  const sent = sentService({ type: 'NodePort', ports: [examplePort()] });
  const reservation = reserveIn(held)(holder, sent);
  assert.deepEqual(steps(reservation), []);
  assert.deepEqual(specOf(reservation).clusterIPs, holder.spec.clusterIPs);
  assert.equal(specOf(reservation).ports?.[0]?.nodePort, 30001);
});

test('reserveService() gives back at the revisions that it saw (IPA-27, NPT-13)', () => {
  const single = reserveIn(held)(holder, withSpec(holder, { ipFamilyPolicy: 'SingleStack' }));
  assert.deepEqual(steps(single), [`delete ${addresses}fd00:96::20 7`]);
  const plain = reserveIn(held)(holder, withSpec(holder, { type: 'ClusterIP' }));
  assert.deepEqual(steps(plain), ['delete /registry/nodeports/30001 9']);
  const external = reserveIn(held)(holder, withSpec(holder, { type: 'ExternalName' }));
  assert.deepEqual(steps(external), [
    `delete ${addresses}10.96.0.20 7`,
    `delete ${addresses}fd00:96::20 7`,
    'delete /registry/nodeports/30001 9',
  ]);
});

test('reserveService() exchanges one node port for another (NPT-13)', () => {
  const ports = [examplePort({ nodePort: 30003 })];
  const reservation = reserveIn(held)(holder, withSpec(holder, { ports }));
  assert.deepEqual(steps(reservation), [
    'put /registry/nodeports/30003 0',
    'delete /registry/nodeports/30001 9',
  ]);
});

test('reserveService() gives everything back with the service, and takes its Endpoints along (IPA-27, NPT-13)', () => {
  const endpoints = {
    kind: 'Endpoints',
    apiVersion: 'v1',
    metadata: { name: 'web', namespace: 'default', resourceVersion: '8' },
  };
  const objects = { ...held.objects, 'endpoints/default/web': endpoints };
  assert.deepEqual(steps(reserveIn({ ...held, objects })(holder, undefined)), [
    `delete ${addresses}10.96.0.20 7`,
    `delete ${addresses}fd00:96::20 7`,
    'delete /registry/nodeports/30001 9',
    'delete /registry/endpoints/default/web 8',
  ]);
  assert.deepEqual(steps(reserveIn({ ...held, objects })(holder, undefined, true)), []);
});

test('reserveService() leaves what belongs to others (IPA-32)', () => {
  const objects = {
    'ipaddresses.networking.k8s.io//10.96.0.20': ipAddress('10.96.0.20', { ...parent, name: 'x' }),
    'ipaddresses.networking.k8s.io//fd00:96::20': ipAddress('fd00:96::20', {
      ...parent,
      group: 'example.com',
    }),
  };
  const ports = { 30001: 'default/other' };
  assert.deepEqual(steps(reserveIn({ objects, ports })(holder, undefined)), []);
});

test('reserveService() marks an address that a finalizer holds', () => {
  const object = ipAddress('10.96.0.20', parent, { finalizers: ['example.com/hold'] });
  const objects = { 'ipaddresses.networking.k8s.io//10.96.0.20': object };
  const reservation = reserveIn({ objects })(exampleService(), undefined);
  assert.deepEqual(steps(reservation), [`put ${addresses}10.96.0.20 7`]);
  const [write] = reservation.write;
  assert.ok(write !== undefined && 'put' in write);
  const written = JSON.parse(Buffer.from(write.value).toString()) as KubeObject;
  assert.equal(written.metadata.deletionTimestamp, '1970-01-01T00:00:00Z');
});
