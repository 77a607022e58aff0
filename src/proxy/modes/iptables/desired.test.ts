import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  exampleNode,
  exampleNode6,
  exampleServicePort,
  exampleServicePort6,
  exampleState,
} from '../../model/example-state.ts';
import { createRandom, randomState } from '../../model/random-state.ts';
import type { ProxyState } from '../../model/state.ts';
import { desiredRules } from './desired.ts';
import { toText } from './diff.ts';
import { defaultSettings, largeClusterCount, type Settings } from './layout.ts';

/** The rules of the chains whose name has this in it, as `CHAIN rule`. */
function rulesOf(
  state: ProxyState,
  part: RegExp,
  settings: Settings = defaultSettings,
): readonly string[] {
  const texts = toText(desiredRules(state, settings).chains, state.node.family).values();
  return [...texts]
    .filter(({ table, name }) => part.test(`${table} ${name}`))
    .flatMap(({ table, name, lines }) => lines.map((line) => `${table} ${name} ${line}`));
}

function lines(text: string): readonly string[] {
  return text
    .trim()
    .split('\n')
    .map((line) => line.trim());
}

/** So many services that the node is laid out for size. */
function burst(count = largeClusterCount + 1): readonly ReturnType<typeof exampleServicePort>[] {
  return Array.from({ length: count }, (_, n) =>
    exampleServicePort({
      namespace: 'many',
      name: `${n}`,
      clusterIP: `10.97.${n >> 8}.${n & 255}`,
    }),
  );
}

test('a service with every entrance, external policy Local, on a small node (IPT-01, IPT-02, IPT-05, IPT-08)', () => {
  const port = exampleServicePort({
    portName: 'http',
    nodePort: 30080,
    externalIPs: ['203.0.113.1'],
    loadBalancerIPs: ['203.0.113.2'],
    sourceRanges: ['192.0.2.0/24'],
    allowsBalancerItself: true,
    externalPolicy: 'Local',
    healthCheckNodePort: 31000,
  });
  const wanted = `
    nat KUBE-MARK-MASQ -j MARK --set-xmark 0x4000/0x4000
    nat KUBE-POSTROUTING -m mark ! --mark 0x4000/0x4000 -j RETURN
    nat KUBE-POSTROUTING -m comment --comment "kubernetes node ports reached on the loopback" -m conntrack --ctstate DNAT --ctorigdst 127.0.0.0/8
    nat KUBE-POSTROUTING -j MARK --set-xmark 0x4000/0x0
    nat KUBE-POSTROUTING -m comment --comment "kubernetes service traffic requiring SNAT" -j MASQUERADE --random-fully
    filter KUBE-FORWARD -m conntrack --ctstate INVALID -j DROP
    filter KUBE-FORWARD -m comment --comment "kubernetes forwarding rules" -m mark --mark 0x4000/0x4000 -j ACCEPT
    filter KUBE-FORWARD -m comment --comment "kubernetes forwarding conntrack rule" -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT
    nat KUBE-SEP-RMUH6PPARWGETNEF -s 10.244.1.11/32 -m comment --comment "default/web:http" -j KUBE-MARK-MASQ
    nat KUBE-SEP-RMUH6PPARWGETNEF -p tcp -m comment --comment "default/web:http" -j DNAT --to-destination 10.244.1.11:9376
    nat KUBE-SEP-FQZDVGLWVZBCFYO5 -s 10.244.2.13/32 -m comment --comment "default/web:http" -j KUBE-MARK-MASQ
    nat KUBE-SEP-FQZDVGLWVZBCFYO5 -p tcp -m comment --comment "default/web:http" -j DNAT --to-destination 10.244.2.13:9376
    nat KUBE-SVC-CDGGSHYLG3RE2FKL ! -s 10.244.0.0/16 -d 10.96.0.20/32 -p tcp -m comment --comment "default/web:http cluster IP" -m tcp --dport 80 -j KUBE-MARK-MASQ
    nat KUBE-SVC-CDGGSHYLG3RE2FKL -m comment --comment "default/web:http -> 10.244.1.11:9376" -m statistic --mode random --probability 0.5000000000 -j KUBE-SEP-RMUH6PPARWGETNEF
    nat KUBE-SVC-CDGGSHYLG3RE2FKL -m comment --comment "default/web:http -> 10.244.2.13:9376" -j KUBE-SEP-FQZDVGLWVZBCFYO5
    nat KUBE-SVL-CDGGSHYLG3RE2FKL -m comment --comment "default/web:http -> 10.244.1.11:9376" -j KUBE-SEP-RMUH6PPARWGETNEF
    nat KUBE-EXT-CDGGSHYLG3RE2FKL -s 10.244.0.0/16 -m comment --comment "pod traffic for default/web:http external destinations" -j KUBE-SVC-CDGGSHYLG3RE2FKL
    nat KUBE-EXT-CDGGSHYLG3RE2FKL -m comment --comment "masquerade LOCAL traffic for default/web:http external destinations" -m addrtype --src-type LOCAL -j KUBE-MARK-MASQ
    nat KUBE-EXT-CDGGSHYLG3RE2FKL -m comment --comment "route LOCAL traffic for default/web:http external destinations" -m addrtype --src-type LOCAL -j KUBE-SVC-CDGGSHYLG3RE2FKL
    nat KUBE-EXT-CDGGSHYLG3RE2FKL -j KUBE-SVL-CDGGSHYLG3RE2FKL
    nat KUBE-FW-CDGGSHYLG3RE2FKL -s 192.0.2.0/24 -m comment --comment "default/web:http loadbalancer IP" -j KUBE-EXT-CDGGSHYLG3RE2FKL
    nat KUBE-FW-CDGGSHYLG3RE2FKL -s 203.0.113.2/32 -m comment --comment "default/web:http loadbalancer IP" -j KUBE-EXT-CDGGSHYLG3RE2FKL
    nat KUBE-SERVICES -d 10.96.0.20/32 -p tcp -m comment --comment "default/web:http cluster IP" -m tcp --dport 80 -j KUBE-SVC-CDGGSHYLG3RE2FKL
    nat KUBE-SERVICES -d 203.0.113.1/32 -p tcp -m comment --comment "default/web:http external IP" -m tcp --dport 80 -j KUBE-EXT-CDGGSHYLG3RE2FKL
    nat KUBE-SERVICES -d 203.0.113.2/32 -p tcp -m comment --comment "default/web:http loadbalancer IP" -m tcp --dport 80 -j KUBE-FW-CDGGSHYLG3RE2FKL
    nat KUBE-SERVICES -m comment --comment "kubernetes service nodeports; NOTE: this must be the last rule in this chain" -m addrtype --dst-type LOCAL -j KUBE-NODEPORTS
    nat KUBE-NODEPORTS -p tcp -m comment --comment "default/web:http" -m tcp --dport 30080 -j KUBE-EXT-CDGGSHYLG3RE2FKL
    filter KUBE-EXTERNAL-SERVICES -m comment --comment "kubernetes service nodeports; NOTE: this must be the last rule in this chain" -m addrtype --dst-type LOCAL -j KUBE-CLOSED-PORTS
    filter KUBE-NODEPORTS -p tcp -m comment --comment "default/web:http health check node port" -m tcp --dport 31000 -j ACCEPT
    filter KUBE-PROXY-FIREWALL -d 203.0.113.2/32 -p tcp -m comment --comment "default/web:http traffic not accepted by KUBE-FW-CDGGSHYLG3RE2FKL" -m tcp --dport 80 -j DROP
  `;
  assert.deepEqual(rulesOf(exampleState([port]), /./), lines(wanted));
});

test('a service without endpoints is refused in filter and nowhere in nat (IPT-06, IPT-10)', () => {
  const port = exampleServicePort({
    nodePort: 30080,
    loadBalancerIPs: ['203.0.113.2'],
    sourceRanges: ['192.0.2.0/24'],
    clusterEndpoints: [],
    localEndpoints: [],
    hasEndpoints: false,
  });
  const state = exampleState([port], exampleNode({ nodePortAddresses: [] }));
  const wanted = `
    filter KUBE-SERVICES -d 10.96.0.20/32 -p tcp -m comment --comment "default/web has no endpoints" -m tcp --dport 80 -j REJECT --reject-with icmp-port-unreachable
    filter KUBE-EXTERNAL-SERVICES -d 203.0.113.2/32 -p tcp -m comment --comment "default/web has no endpoints" -m tcp --dport 80 -j REJECT --reject-with icmp-port-unreachable
    filter KUBE-CLOSED-PORTS -p tcp -m comment --comment "default/web has no endpoints" -m tcp --dport 30080 -j REJECT --reject-with icmp-port-unreachable
  `;
  const part = /SERVICES|PORTS|FIREWALL|SVC|SVL|EXT|FW|SEP/;
  assert.deepEqual(rulesOf(state, part), lines(wanted));
});

test('affinity is looked up in the service chain and written in the endpoint chain (IPT-04)', () => {
  const port = exampleServicePort6({ affinitySeconds: 10800 });
  const node = exampleNode6({ masqueradeAll: true });
  const wanted = `
    nat KUBE-SEP-YU46RVZI6SSCGG3I -s fd44:1::11/128 -m comment --comment "default/web" -j KUBE-MARK-MASQ
    nat KUBE-SEP-YU46RVZI6SSCGG3I -p tcp -m comment --comment "default/web" -m recent --set --name KUBE-SEP-YU46RVZI6SSCGG3I --mask ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff --rsource -j DNAT --to-destination [fd44:1::11]:9376
    nat KUBE-SVC-LOLE4ISW44XBNF3G -d fd00:96::20/128 -p tcp -m comment --comment "default/web cluster IP" -m tcp --dport 80 -j KUBE-MARK-MASQ
    nat KUBE-SVC-LOLE4ISW44XBNF3G -m comment --comment "default/web -> [fd44:1::11]:9376" -m recent --rcheck --seconds 10800 --reap --name KUBE-SEP-YU46RVZI6SSCGG3I --mask ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff --rsource -j KUBE-SEP-YU46RVZI6SSCGG3I
    nat KUBE-SVC-LOLE4ISW44XBNF3G -m comment --comment "default/web -> [fd44:1::11]:9376" -j KUBE-SEP-YU46RVZI6SSCGG3I
  `;
  const clusterEndpoints = port.clusterEndpoints.slice(0, 1);
  const state = exampleState([{ ...port, clusterEndpoints }], node);
  assert.deepEqual(rulesOf(state, /SEP|SVC/), lines(wanted));
});

test('a large node has short lists, so that a first packet passes few rules, one rule for each endpoint, and no comments (KPX-42, IPT-15)', () => {
  const state = exampleState([
    ...burst(),
    exampleServicePort({ nodePort: 30080, affinitySeconds: 60 }),
  ]);
  const wanted = `
    nat KUBE-SVC-LOLE4ISW44XBNF3G ! -s 10.244.0.0/16 -d 10.96.0.20/32 -p tcp -m tcp --dport 80 -j KUBE-MARK-MASQ
    nat KUBE-SVC-LOLE4ISW44XBNF3G -p tcp -m recent --update --seconds 60 --reap --name KUBE-SEP-SAKTDBFIRIYCOAU2 --mask 255.255.255.255 --rsource -j DNAT --to-destination 10.244.1.11:9376
    nat KUBE-SVC-LOLE4ISW44XBNF3G -p tcp -m recent --update --seconds 60 --reap --name KUBE-SEP-XGRZGNXJC7NQCKPW --mask 255.255.255.255 --rsource -j DNAT --to-destination 10.244.2.13:9376
    nat KUBE-SVC-LOLE4ISW44XBNF3G -p tcp -m statistic --mode random --probability 0.5000000000 -m recent --set --name KUBE-SEP-SAKTDBFIRIYCOAU2 --mask 255.255.255.255 --rsource -j DNAT --to-destination 10.244.1.11:9376
    nat KUBE-SVC-LOLE4ISW44XBNF3G -p tcp -m recent --set --name KUBE-SEP-XGRZGNXJC7NQCKPW --mask 255.255.255.255 --rsource -j DNAT --to-destination 10.244.2.13:9376
    nat KUBE-EXT-LOLE4ISW44XBNF3G -j KUBE-MARK-MASQ
    nat KUBE-EXT-LOLE4ISW44XBNF3G -j KUBE-SVC-LOLE4ISW44XBNF3G
    nat KUBE-NODEPORTS-TCP-30080 -p tcp -m tcp --dport 30080 -j KUBE-EXT-LOLE4ISW44XBNF3G
    nat KUBE-NODEPORTS -p tcp -m tcp --dport 30080:30143 -j KUBE-NODEPORTS-TCP-30080
  `;
  assert.deepEqual(rulesOf(state, /LOLE4ISW44XBNF3G$|nat KUBE-NODEPORTS/), lines(wanted));
  assert.deepEqual(rulesOf(state, /SEP/), []);
  const list = rulesOf(state, /nat KUBE-SERVICES$/);
  assert.equal(list.length, 129);
  assert.ok(list.includes('nat KUBE-SERVICES -d 0.0.0.20/0.0.0.127 -j KUBE-SERVICES-14'));
  const bucket = rulesOf(state, /nat KUBE-SERVICES-14$/);
  assert.ok(bucket.length < 20);
  assert.ok(
    bucket.includes(
      'nat KUBE-SERVICES-14 -d 10.96.0.20/32 -p tcp -m tcp --dport 80 -j KUBE-SVC-LOLE4ISW44XBNF3G',
    ),
  );
  const hairpin =
    '-m conntrack --ctstate DNAT -m bpf --bytecode "6,32 0 0 12,7 0 0 0,32 0 0 16,29 0 1 0,6 0 0 65535,6 0 0 0"';
  assert.equal(
    rulesOf(state, /POSTROUTING/)[0],
    `nat KUBE-POSTROUTING ${hairpin} -j KUBE-MARK-MASQ`,
  );
  assert.equal(rulesOf(state, /FORWARD/)[1], `filter KUBE-FORWARD ${hairpin} -j ACCEPT`);
});

test('chains of services come in the order in which the kernel walks to them, whatever the order of the services', () => {
  const state = exampleState(burst().toReversed());
  const rules = new Map(
    [...desiredRules(state, defaultSettings).chains].map((chain) => [
      `${chain.table} ${chain.name}`,
      chain.rules,
    ]),
  );
  const met: string[] = [];
  const follow = (chain: string): void => {
    for (const { target } of rules.get(`nat ${chain}`) ?? []) {
      if (target.kind !== 'jump') continue;
      if (target.chain.startsWith('KUBE-SVC-')) met.push(target.chain);
      follow(target.chain);
    }
  };
  follow('KUBE-SERVICES');
  const written = [...rules.keys()].filter((key) => key.startsWith('nat KUBE-SVC-'));
  assert.equal(written.length, state.ports.size);
  assert.deepEqual(
    written,
    met.map((chain) => `nat ${chain}`),
  );
});

test('a large node keeps endpoint chains where the kernel cannot compare both ends of a packet', () => {
  const state = exampleState([...burst(), exampleServicePort()]);
  const settings = { ...defaultSettings, canCompareEnds: false };
  assert.equal(rulesOf(state, /SEP-(?:SAKTDBFIRIYCOAU2|XGRZGNXJC7NQCKPW)$/, settings).length, 4);
  assert.doesNotMatch(rulesOf(state, /./, settings).join('\n'), /bpf|comment "default/);
});

test('settings change what every node has (IPT-07, IPT-09)', () => {
  const state = exampleState([]);
  const off = { ...defaultSettings, answersOnLoopback: false, dropsInvalid: false };
  assert.equal(rulesOf(state, /FORWARD/, off).length, 2);
  assert.match(rulesOf(state, /nat KUBE-SERVICES/, off)[0] ?? '', /! -d 127\.0\.0\.0\/8 /);
  assert.equal(desiredRules(state, off).foreign.shared.length, 0);
  assert.equal(desiredRules(state, defaultSettings).foreign.shared.length, 1);
  const state6 = exampleState([], exampleNode6());
  assert.match(rulesOf(state6, /nat KUBE-SERVICES/)[0] ?? '', /! -d ::1\/128 /);
  assert.equal(desiredRules(state6, defaultSettings).foreign.shared.length, 0);
});

test('no name and no comment is longer than iptables takes', () => {
  const states = Array.from({ length: 200 }, (_, seed) => randomState(createRandom(seed)));
  const ports = burst().map((port, n) => ({
    ...port,
    protocol: 'SCTP' as const,
    nodePort: 65_000 - n,
    ...(n % 2 === 0 ? {} : { hasEndpoints: false, clusterEndpoints: [], localEndpoints: [] }),
  }));
  for (const state of [...states, exampleState(ports)]) {
    for (const { name, rules } of desiredRules(state, defaultSettings).chains) {
      assert.ok(name.length <= 28, name);
      for (const { comment = '' } of rules) assert.ok(comment.length <= 255, comment);
    }
  }
});
