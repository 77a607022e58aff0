import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  canAnswer,
  hasClusterIP,
  hasSelectedPods,
  hostnameUnder,
  isSameBackend,
  podAddresses,
  targetPortNumber,
} from './backends.ts';
import { examplePort } from './example.ts';
import { exampleBackend, selectingService } from './example-backends.ts';

const deletionTimestamp = '2026-01-01T00:00:00Z';

const answering = [
  { title: 'a running pod', pod: exampleBackend('p'), alive: true, going: true },
  {
    title: 'a pod that is not ready',
    pod: exampleBackend('p', { ready: false }),
    alive: true,
    going: true,
  },
  {
    title: 'a pending pod with an address',
    pod: exampleBackend('p', { status: { phase: 'Pending' } }),
    alive: true,
    going: true,
  },
  {
    title: 'a pod without address',
    pod: exampleBackend('p', { ips: [] }),
    alive: false,
    going: false,
  },
  {
    title: 'a pod that succeeded',
    pod: exampleBackend('p', { status: { phase: 'Succeeded' } }),
    alive: false,
    going: false,
  },
  {
    title: 'a pod that failed',
    pod: exampleBackend('p', { status: { phase: 'Failed' } }),
    alive: false,
    going: false,
  },
  {
    title: 'a terminating pod',
    pod: exampleBackend('p', { metadata: { deletionTimestamp } }),
    alive: false,
    going: true,
  },
];

for (const { title, pod, alive, going } of answering) {
  test(`canAnswer() of ${title}: ${alive}, with terminating ones ${going} (EPC-03, EPS-20)`, () => {
    assert.equal(canAnswer(pod, false), alive);
    assert.equal(canAnswer(pod, true), going);
  });
}

test('hasSelectedPods() needs a selector and a type with endpoints (EPC-01, EPC-02, EPC-14, EPS-08)', () => {
  assert.equal(hasSelectedPods(selectingService()), true);
  assert.equal(hasSelectedPods(selectingService({ spec: { selector: {} } })), false);
  assert.equal(hasSelectedPods(selectingService({ spec: { type: 'ExternalName' } })), false);
});

test('hasClusterIP() is false for None and for an unset field (EPC-10, EPS-07)', () => {
  assert.equal(hasClusterIP(selectingService()), true);
  assert.equal(hasClusterIP(selectingService({ spec: { clusterIP: 'None' } })), false);
  assert.equal(hasClusterIP(selectingService({ spec: { clusterIP: '' } })), false);
});

test('podAddresses() selects the addresses of the family in any position (EPS-18, DST-17)', () => {
  const pod = exampleBackend('p', { ips: ['fd00::1', '10.1.0.1'] });
  assert.deepEqual(podAddresses(pod, 'IPv4'), ['10.1.0.1']);
  assert.deepEqual(podAddresses(pod, 'IPv6'), ['fd00::1']);
});

const spellings = [
  ['FD00:0:0::00A', 'fd00::a'],
  ['fd00:10:244:1::5', 'fd00:10:244:1::5'],
  ['a:b:c:d:e::f', 'a:b:c:d:e::f'],
  ['a:b:c:d:e:f::1', 'a:b:c:d:e:f:0:1'],
  ['fd00:010::5', 'fd00:10::5'],
  ['fd00:0:0:1::5', 'fd00:0:0:1::5'],
  ['fd00:1:0::5', 'fd00:1::5'],
  ['fd00:1:2:3:4:5:6:7', 'fd00:1:2:3:4:5:6:7'],
];

test('podAddresses() returns canonical addresses (EPC-05, EPS-18)', () => {
  const found = spellings.map(([ip = '']) =>
    podAddresses(exampleBackend('p', { ips: [ip] }), 'IPv6'),
  );
  assert.deepEqual(
    found.flat(),
    spellings.map(([, canonical]) => canonical),
  );
});

test('hostnameUnder() requires a hostname, and the Service as subdomain (EPC-05, EPS-18)', () => {
  const named = (spec: object) => hostnameUnder(selectingService(), exampleBackend('p', { spec }));
  assert.equal(named({ hostname: 'web-0', subdomain: 'web' }), 'web-0');
  assert.equal(named({ hostname: 'web-0', subdomain: 'other' }), undefined);
  assert.equal(named({ hostname: 'web-0' }), undefined);
  assert.equal(named({ subdomain: 'web' }), undefined);
});

test('targetPortNumber() takes numbers as they are and looks names up by protocol (EPC-06, EPS-09)', () => {
  const ports = [
    { name: 'dns', containerPort: 5353, protocol: 'UDP' },
    { name: 'dns', containerPort: 5354 },
  ];
  const pod = exampleBackend('p', { spec: { containers: [{ name: 'c', image: 'i', ports }] } });
  assert.equal(targetPortNumber(pod, examplePort({ targetPort: 9999 })), 9999);
  assert.equal(targetPortNumber(pod, examplePort({ targetPort: 'dns' })), 5354);
  assert.equal(targetPortNumber(pod, examplePort({ targetPort: 'dns', protocol: 'UDP' })), 5353);
  assert.equal(targetPortNumber(pod, examplePort({ targetPort: 'http' })), undefined);
});

const changes = [
  { title: 'an annotation', after: { metadata: { annotations: { a: 'b' } } }, same: true },
  {
    title: 'another condition',
    after: {
      status: {
        conditions: [
          { type: 'Ready', status: 'True' },
          { type: 'X', status: 'True' },
        ],
      },
    },
    same: true,
  },
  { title: 'readiness', after: { ready: false }, same: false },
  { title: 'an address', after: { ips: ['10.1.0.2'] }, same: false },
  { title: 'a label', after: { labels: { app: 'other' } }, same: false },
  { title: 'its node', after: { spec: { nodeName: 'n2' } }, same: false },
  { title: 'its end', after: { metadata: { deletionTimestamp } }, same: false },
  { title: 'its phase to Succeeded', after: { status: { phase: 'Succeeded' } }, same: false },
  { title: 'being another pod', after: { metadata: { uid: 'other' } }, same: false },
];

for (const { title, after, same } of changes) {
  test(`isSameBackend() is ${same} when ${title} changes`, () => {
    assert.equal(isSameBackend(exampleBackend('p'), exampleBackend('p', after)), same);
  });
}

test('isSameBackend() is true for pods without an address', () => {
  const before = exampleBackend('p', { ips: [], labels: { app: 'web' } });
  const after = exampleBackend('p', { ips: [], labels: { app: 'other' } });
  assert.equal(isSameBackend(before, after), true);
});
