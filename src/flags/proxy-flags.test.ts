import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Command } from 'commander';
import { makeConfig } from '../proxy/config.ts';
import { readProxyFile } from './proxy-config-file.ts';
import { addProxyFlags, flagSettings, unknownGates } from './proxy-flags.ts';

function parse(...argv: readonly string[]) {
  const command = addProxyFlags(new Command('proxy').exitOverride());
  command.configureOutput({ writeErr: () => {} });
  return flagSettings(command.parse([...argv], { from: 'user' }).opts());
}

describe('flagSettings()', () => {
  it('says nothing of what was not given', () => {
    assert.deepEqual(parse(), { conntrack: {}, modeSettings: {} });
  });
  it('reads kube-proxy’s flags', () => {
    const flags = [
      ...['--proxy-mode', 'iptables', '--hostname-override', 'n1', '--masquerade-all'],
      ...['--cluster-cidr', '10.244.0.0/16, fd44::/16', '--nodeport-addresses', 'primary'],
      ...['--iptables-min-sync-period', '2s', '--ipvs-sync-period', '9s'],
      ...['--healthz-bind-address', '', '--metrics-bind-address', '[::1]:10249'],
      ...['--conntrack-min', '5', '--conntrack-tcp-timeout-established', '1h'],
      ...['--iptables-localhost-nodeports', 'false', '--ipvs-strict-arp'],
      ...['--feature-gates', 'AllowServiceExternalIPs=false'],
    ];
    assert.deepEqual(parse(...flags), {
      mode: 'iptables',
      nodeName: 'n1',
      masqueradeAll: true,
      clusterCIDRs: ['10.244.0.0/16', 'fd44::/16'],
      nodePortAddresses: ['primary'],
      minSyncPeriodMs: 2000,
      healthz: 'none',
      metrics: { host: '::1', port: 10_249 },
      allowsExternalIPs: false,
      conntrack: { min: 5, tcpEstablishedTimeoutMs: 3_600_000 },
      modeSettings: { 'iptables-localhost-nodeports': 'false', 'ipvs-strict-arp': 'true' },
    });
  });
  const bad: readonly (readonly [string, string, RegExp])[] = [
    ['--proxy-mode', 'ebpf', /must be one of nftables, iptables, ipvs, userspace/],
    ['--detect-local-mode', 'guess', /must be one of ClusterCIDR/],
    ['--bind-address', 'here', /not an IP address/],
    ['--iptables-masquerade-bit', '32', /from 0 to 31/],
    ['--sync-period', '0', /too short/],
    ['--feature-gates', 'X', /like Name=true/],
  ];
  for (const [flag, value, expected] of bad) {
    it(`refuses ${flag} ${value}`, () => assert.throws(() => parse(flag, value), expected));
  }
});

const head = 'kind: KubeProxyConfiguration\napiVersion: kubeproxy.config.k8s.io/v1alpha1\n';

describe('readProxyFile() (KPX-48)', () => {
  it('reads what kubeadm writes: empty is left out, and what means nothing here is named', () => {
    const { settings, kubeconfig, ignored } = readProxyFile(`${head}
bindAddress: 0.0.0.0
bindAddressHardFail: false
clientConnection:
  acceptContentTypes: ""
  kubeconfig: /var/lib/kube-proxy/kubeconfig.conf
clusterCIDR: 10.244.0.0/16
configSyncPeriod: 0s
conntrack: { maxPerCore: null, min: 7, tcpEstablishedTimeout: 1h0m0s }
detectLocalMode: ""
healthzBindAddress: ""
hostnameOverride: ""
iptables: { localhostNodePorts: null, masqueradeAll: false, masqueradeBit: null, minSyncPeriod: 0s, syncPeriod: 0s }
ipvs: { scheduler: "", excludeCIDRs: null, strictARP: false }
mode: ""
nodePortAddresses: null
`);
    assert.equal(kubeconfig, '/var/lib/kube-proxy/kubeconfig.conf');
    const config = makeConfig(settings);
    assert.deepEqual(config.local.clusterCIDRs, ['10.244.0.0/16']);
    assert.deepEqual([config.conntrack.min, config.conntrack.maxPerCore], [7, 32_768]);
    assert.equal(config.healthz?.port, 10_256);
    assert.equal(config.syncPeriodMs, 30_000);
    assert.deepEqual(ignored, [
      ...['bindAddressHardFail', 'clientConnection.acceptContentTypes', 'configSyncPeriod'],
    ]);
  });
  it('takes periods and masquerading from the section of the mode', () => {
    const text = `${head}mode: iptables\niptables: { masqueradeAll: true, syncPeriod: 10s }\nnftables: { syncPeriod: 1m }\n`;
    const { settings } = readProxyFile(text);
    assert.deepEqual([settings.masqueradeAll, settings.syncPeriodMs], [true, 10_000]);
    assert.equal(readProxyFile(text.replace('mode: iptables', '')).settings.syncPeriodMs, 60_000);
  });
  const bad: readonly (readonly [string, RegExp])[] = [
    ['kind: Pod', /not a KubeProxyConfiguration/],
    ['[', /not valid YAML/],
    ['- a', /not a mapping/],
    [`${head}mode: ebpf`, /mode: "ebpf" must be one of/],
    [`${head}conntrack: { min: many }`, /conntrack\.min must be a number/],
    [`${head}iptables: 5`, /iptables is not a mapping/],
    [`${head}mode: ipvs\nipvs: { syncPeriod: soon }`, /ipvs\.syncPeriod: "soon" is not a duration/],
    [`${head}healthzBindAddress: nowhere`, /healthzBindAddress: "nowhere" is not an IP and port/],
  ];
  for (const [text, expected] of bad) {
    it(`refuses ${JSON.stringify(text.replace(head, ''))}`, () =>
      assert.throws(() => readProxyFile(text), expected));
  }
});

describe('unknownGates()', () => {
  it('names those that nothing depends on', () => {
    const featureGates = { AllowServiceExternalIPs: true, TopologyAwareHints: false };
    assert.deepEqual(unknownGates({ featureGates }), ['TopologyAwareHints']);
    assert.deepEqual(unknownGates({}), []);
  });
});
