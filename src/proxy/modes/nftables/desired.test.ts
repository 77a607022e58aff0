import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Operation } from '../../../host/nftables/objects.ts';
import { renderTransaction } from '../../../host/nftables/render-text.ts';
import {
  exampleNode,
  exampleNode6,
  exampleServicePort,
  exampleServicePort6,
} from '../../model/example-state.ts';
import type { NodeState } from '../../model/state.ts';
import { desiredForNode, desiredForPort } from './desired.ts';
import type { Fragment } from './fragment.ts';
import { tableOf } from './layout.ts';

const node = exampleNode({ nodePortAddresses: ['10.20.0.11', '127.0.0.1'] });

/** Rules and elements, each once, without the words that are the same in every line. */
function textOf({ chains, entries }: Fragment, { family }: NodeState = node): string {
  const table = tableOf(family);
  const operations: readonly Operation[] = [
    ...chains.flatMap(({ chain, rules }) =>
      rules.map(
        (statements) => ({ kind: 'add-rule', rule: { chain: chain.name, statements } }) as const,
      ),
    ),
    ...entries.map(
      ({ set, element }) => ({ kind: 'add-elements', set, elements: [element] }) as const,
    ),
  ];
  const lines = renderTransaction({ table, operations })
    .replaceAll(` ${table.family} ${table.name}`, '')
    .replaceAll(/^add (rule|element) /gm, '')
    .split('\n');
  return [...new Set(lines)].join('\n').trim();
}

function golden(text: string): string {
  return text.replaceAll(/^ +/gm, '').trim();
}

test('desiredForNode() asks a packet what it must be asked at each hook, and has no rule that accepts (NFT-02, NFT-03, NFT-06, NFT-08, NFT-09, NFT-11, KPX-58)', () => {
  assert.equal(
    textOf(desiredForNode(node)),
    golden(`
      filter-prerouting-pre-dnat ct state new ip daddr . meta l4proto . th dport @firewall-ips jump firewall
      filter-output-pre-dnat ct state new ip daddr . meta l4proto . th dport @firewall-ips jump firewall
      nat-prerouting jump services
      nat-output jump services
      filter-input ct state new jump no-endpoints
      filter-forward ct state new jump no-endpoints
      filter-forward ct state new jump unused-ips
      filter-output ct state new jump no-endpoints
      filter-output ct state new jump unused-ips
      nat-postrouting ct status dnat ip saddr . ip daddr . meta l4proto . th dport @hairpin-connections masquerade fully-random
      nat-postrouting meta mark & 0x00004000 == 0x00004000 meta mark set meta mark & 0xffffbfff masquerade fully-random
      firewall ip daddr . meta l4proto . th dport . ip saddr @source-ranges return
      firewall drop
      services ip daddr . meta l4proto . th dport vmap @service-ips
      services ip daddr @nodeport-ips meta l4proto . th dport vmap @service-nodeports
      no-endpoints ip daddr . meta l4proto . th dport vmap @no-endpoint-services
      no-endpoints ip daddr @nodeport-ips meta l4proto . th dport vmap @no-endpoint-nodeports
      unused-ips ip daddr @cluster-ips goto refuse
      unused-ips ip daddr 10.96.0.0/16 drop
      refuse meta l4proto tcp reject with tcp reset
      refuse reject with icmp type port-unreachable
      nodeport-ips { 10.20.0.11 }`),
  );
});

test('desiredForNode() finds node ports on every address but loopback (KPX-30)', () => {
  const everywhere = exampleNode6({ nodePortAddresses: 'all', serviceCIDRs: [] });
  assert.match(
    textOf(desiredForNode(everywhere), everywhere),
    /^services fib daddr type local ip6 daddr != ::1\/128 meta l4proto \. th dport vmap @service-nodeports$/m,
  );
});

test('desiredForPort() numbers the endpoints of a cluster IP, and one rule draws and translates (NFT-05)', () => {
  assert.equal(
    textOf(desiredForPort(exampleServicePort(), node)),
    golden(`
      internal-2 ip saddr != 10.244.0.0/16 meta mark set meta mark | 0x00004000
      internal-2 goto choose-2
      choose-2 dnat ip to ip daddr . meta l4proto . th dport . numgen random mod 2 map @endpoints
      choose-2 dnat ip to ip daddr . meta l4proto . th dport . numgen random mod 1 map @endpoints
      service-ips { 10.96.0.20 . tcp . 80 : goto internal-2 }
      endpoints { 10.96.0.20 . tcp . 80 . 0 : 10.244.1.11 . 9376 }
      endpoints { 10.96.0.20 . tcp . 80 . 1 : 10.244.2.13 . 9376 }
      cluster-ips { 10.96.0.20 }
      hairpin-connections { 10.244.1.11 . 10.244.1.11 . tcp . 9376 }`),
  );
});

test('desiredForPort() drops clients outside of the source ranges, and sends the rest to local endpoints under policy Local (KPX-15, KPX-17, KPX-29)', () => {
  const port = exampleServicePort({
    nodePort: 30080,
    loadBalancerIPs: ['203.0.113.2'],
    externalPolicy: 'Local',
    sourceRanges: ['10.20.0.100/32', '10.20.0.0/24'],
    allowsBalancerItself: true,
  });
  assert.equal(
    textOf(desiredForPort(port, node)),
    golden(`
      internal-2 ip saddr != 10.244.0.0/16 meta mark set meta mark | 0x00004000
      internal-2 goto choose-2
      choose-2 dnat ip to ip daddr . meta l4proto . th dport . numgen random mod 2 map @endpoints
      choose-2 dnat ip to ip daddr . meta l4proto . th dport . numgen random mod 1 map @endpoints
      external-2-local-1 ip saddr 10.244.0.0/16 goto choose-2
      external-2-local-1 fib saddr type local meta mark set meta mark | 0x00004000
      external-2-local-1 fib saddr type local goto choose-2
      external-2-local-1 dnat ip to ip daddr . meta l4proto . th dport . numgen random mod 1 map @local-endpoints
      nodeport-external-2-local-1 ip saddr 10.244.0.0/16 goto nodeport-choose-2
      nodeport-external-2-local-1 fib saddr type local meta mark set meta mark | 0x00004000
      nodeport-external-2-local-1 fib saddr type local goto nodeport-choose-2
      nodeport-external-2-local-1 dnat ip to meta l4proto . th dport . numgen random mod 1 map @nodeport-local-endpoints
      nodeport-choose-2 dnat ip to meta l4proto . th dport . numgen random mod 2 map @nodeport-endpoints
      nodeport-choose-2 dnat ip to meta l4proto . th dport . numgen random mod 1 map @nodeport-endpoints
      service-ips { 10.96.0.20 . tcp . 80 : goto internal-2 }
      endpoints { 10.96.0.20 . tcp . 80 . 0 : 10.244.1.11 . 9376 }
      endpoints { 10.96.0.20 . tcp . 80 . 1 : 10.244.2.13 . 9376 }
      service-ips { 203.0.113.2 . tcp . 80 : goto external-2-local-1 }
      endpoints { 203.0.113.2 . tcp . 80 . 0 : 10.244.1.11 . 9376 }
      endpoints { 203.0.113.2 . tcp . 80 . 1 : 10.244.2.13 . 9376 }
      local-endpoints { 203.0.113.2 . tcp . 80 . 0 : 10.244.1.11 . 9376 }
      service-nodeports { tcp . 30080 : goto nodeport-external-2-local-1 }
      nodeport-endpoints { tcp . 30080 . 0 : 10.244.1.11 . 9376 }
      nodeport-endpoints { tcp . 30080 . 1 : 10.244.2.13 . 9376 }
      nodeport-local-endpoints { tcp . 30080 . 0 : 10.244.1.11 . 9376 }
      cluster-ips { 10.96.0.20 }
      hairpin-connections { 10.244.1.11 . 10.244.1.11 . tcp . 9376 }
      firewall-ips { 203.0.113.2 . tcp . 80 }
      source-ranges { 203.0.113.2 . tcp . 80 . 10.20.0.0/24 }
      source-ranges { 203.0.113.2 . tcp . 80 . 203.0.113.2 }`),
  );
});

test('desiredForPort() asks for records before it draws, and draws also when no record can be made (KPX-23, NFT-05)', () => {
  const port = exampleServicePort({ nodePort: 30080, affinitySeconds: 10800 });
  const first = 'ip saddr . numgen random mod 1 offset 601846765';
  const second = 'ip saddr . numgen random mod 1 offset 3486748479';
  assert.equal(
    textOf(desiredForPort(port, node)),
    golden(`
      service-PFISGYVC-default/web/tcp/ ${first} @affinity update @affinity { ${first} timeout 10800s } meta l4proto tcp dnat to 10.244.1.11:9376
      service-PFISGYVC-default/web/tcp/ ${second} @affinity update @affinity { ${second} timeout 10800s } meta l4proto tcp dnat to 10.244.2.13:9376
      service-PFISGYVC-default/web/tcp/ numgen random mod 2 0 update @affinity { ${first} timeout 10800s } meta l4proto tcp dnat to 10.244.1.11:9376
      service-PFISGYVC-default/web/tcp/ update @affinity { ${second} timeout 10800s } meta l4proto tcp dnat to 10.244.2.13:9376
      service-PFISGYVC-default/web/tcp/ numgen random mod 2 0 meta l4proto tcp dnat to 10.244.1.11:9376
      service-PFISGYVC-default/web/tcp/ meta l4proto tcp dnat to 10.244.2.13:9376
      internal-PFISGYVC-default/web/tcp/ ip saddr != 10.244.0.0/16 meta mark set meta mark | 0x00004000
      internal-PFISGYVC-default/web/tcp/ goto service-PFISGYVC-default/web/tcp/
      external-PFISGYVC-default/web/tcp/ meta mark set meta mark | 0x00004000
      external-PFISGYVC-default/web/tcp/ goto service-PFISGYVC-default/web/tcp/
      service-ips { 10.96.0.20 . tcp . 80 : goto internal-PFISGYVC-default/web/tcp/ }
      service-nodeports { tcp . 30080 : goto external-PFISGYVC-default/web/tcp/ }
      cluster-ips { 10.96.0.20 }
      hairpin-connections { 10.244.1.11 . 10.244.1.11 . tcp . 9376 }`),
  );
});

test('desiredForPort() refuses without endpoints, and drops with endpoints elsewhere only (KPX-14, KPX-16)', () => {
  const none = { clusterEndpoints: [], localEndpoints: [], nodePort: 30080 };
  assert.equal(
    textOf(desiredForPort(exampleServicePort({ ...none, hasEndpoints: false }), node)),
    golden(`
      no-endpoint-services { 10.96.0.20 . tcp . 80 : goto refuse }
      no-endpoint-nodeports { tcp . 30080 : goto refuse }
      cluster-ips { 10.96.0.20 }`),
  );
  const elsewhere = exampleServicePort({ internalPolicy: 'Local', localEndpoints: [] });
  assert.match(
    textOf(desiredForPort(elsewhere, node)),
    /^no-endpoint-services \{ 10\.96\.0\.20 \. tcp \. 80 : drop \}$/m,
  );
});

test('desiredForPort() writes IPv6 as IPv4', () => {
  const node6 = exampleNode6({ localTraffic: { kind: 'interface-prefix', prefix: 'veth' } });
  assert.equal(
    textOf(desiredForPort(exampleServicePort6({ protocol: 'UDP' }), node6), node6),
    golden(`
      internal-2 iifname != "veth*" meta mark set meta mark | 0x00004000
      internal-2 goto choose-2
      choose-2 dnat ip6 to ip6 daddr . meta l4proto . th dport . numgen random mod 2 map @endpoints
      choose-2 dnat ip6 to ip6 daddr . meta l4proto . th dport . numgen random mod 1 map @endpoints
      service-ips { fd00:96::20 . udp . 80 : goto internal-2 }
      endpoints { fd00:96::20 . udp . 80 . 0 : fd44:1::11 . 9376 }
      endpoints { fd00:96::20 . udp . 80 . 1 : fd44:2::13 . 9376 }
      cluster-ips { fd00:96::20 }
      hairpin-connections { fd44:1::11 . fd44:1::11 . udp . 9376 }`),
  );
});
