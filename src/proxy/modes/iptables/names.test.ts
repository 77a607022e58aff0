import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exampleServicePort } from '../../model/example-state.ts';
import { isOwnChain, portChainNames } from './names.ts';

test('chains of a service port have the names that upstream gives them (IPT-02)', () => {
  const named = portChainNames(
    exampleServicePort({ namespace: 'ns1', name: 'svc1', portName: 'p80' }),
  );
  const endpoint = { ip: '10.180.0.1', port: 80, isLocal: false };
  assert.deepEqual(
    [named.cluster, named.local, named.external, named.firewall, named.endpoint(endpoint)],
    [
      'KUBE-SVC-XPGD46QRK7WJZT7O',
      'KUBE-SVL-XPGD46QRK7WJZT7O',
      'KUBE-EXT-XPGD46QRK7WJZT7O',
      'KUBE-FW-XPGD46QRK7WJZT7O',
      'KUBE-SEP-SXIVWICOYRO3J4NJ',
    ],
  );
  // A port without a name has no colon, and the protocol tells ports apart.
  assert.equal(
    portChainNames(exampleServicePort({ name: 'kubernetes', portName: 'https' })).cluster,
    'KUBE-SVC-NPX46M4PTMTKRN6Y',
  );
  assert.equal(
    portChainNames(
      exampleServicePort({
        namespace: 'kube-system',
        name: 'kube-dns',
        portName: 'dns',
        protocol: 'UDP',
      }),
    ).cluster,
    'KUBE-SVC-TCOU7JCQXEZGVUNU',
  );
});

test('isOwnChain() tells our chains, and what the old userspace mode left, from those of others (USR-11)', () => {
  const cases = [
    ['nat', 'KUBE-SVC-XPGD46QRK7WJZT7O', true],
    ['nat', 'KUBE-XLB-XPGD46QRK7WJZT7O', true],
    ['nat', 'KUBE-SERVICES', true],
    ['nat', 'KUBE-SERVICES-7F', true],
    ['nat', 'KUBE-NODEPORTS-SCTP-30016', true],
    ['nat', 'KUBE-MARK-MASQ', true],
    ['nat', 'KUBE-PORTALS-CONTAINER', true],
    ['nat', 'KUBE-PORTALS-HOST', true],
    ['nat', 'KUBE-NODEPORT-CONTAINER', true],
    ['nat', 'KUBE-NODEPORT-HOST', true],
    ['filter', 'KUBE-NODEPORT-NON-LOCAL', true],
    ['filter', 'KUBE-PORTALS-HOST', false],
    ['filter', 'KUBE-FORWARD', true],
    ['filter', 'KUBE-PROXY-FIREWALL-0A', true],
    ['filter', 'KUBE-CLOSED-PORTS', true],
    ['mangle', 'KUBE-PROXY-CANARY', true],
    ['filter', 'KUBE-SVC-XPGD46QRK7WJZT7O', false],
    ['filter', 'KUBE-FIREWALL', false],
    ['nat', 'KUBE-MARK-DROP', false],
    ['mangle', 'KUBE-KUBELET-CANARY', false],
    ['mangle', 'KUBE-SERVICES', false],
    ['nat', 'KUBE-SVC-short', false],
    ['nat', 'MY-KUBE-SERVICES', false],
    ['nat', 'KUBE-SERVICESX', false],
  ] as const;
  for (const [table, name, isOwn] of cases) assert.equal(isOwnChain(table, name), isOwn, name);
});
