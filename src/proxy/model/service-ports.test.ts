import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { examplePort, exampleService } from '../../kinds/service/example.ts';
import type { ServiceSpec, ServiceStatus } from '../../kinds/service/types.ts';
import { sourceRangesAnnotation } from '../../meta/well-known-annotations.ts';
import { type PortRequest, servicePorts } from './service-ports.ts';
import type { Family } from './state.ts';

type Parts = {
  readonly spec?: ServiceSpec;
  readonly status?: Partial<ServiceStatus>;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly family?: Family;
  readonly allowsExternalIPs?: boolean;
};

function portsOf(parts: Parts) {
  const { spec, status, labels, annotations, family = 'IPv4', allowsExternalIPs = true } = parts;
  const service = exampleService({
    metadata: { ...(labels ? { labels } : {}), ...(annotations ? { annotations } : {}) },
    ...(spec ? { spec } : {}),
    ...(status ? { status } : {}),
  });
  return servicePorts(service, { family, allowsExternalIPs, nodeIP: '10.20.0.11' });
}

function only(parts: Parts): PortRequest {
  const ports = portsOf(parts);
  assert.equal(ports.length, 1);
  return ports[0] as PortRequest;
}

const balancer = (...ingress: object[]): Partial<ServiceStatus> => ({
  loadBalancer: { ingress } as ServiceStatus['loadBalancer'] & object,
});

describe('servicePorts()', () => {
  const skipped: readonly (readonly [string, Parts])[] = [
    ['headless (KPX-03)', { spec: { clusterIP: 'None', clusterIPs: ['None'] } }],
    ['without an address (KPX-03)', { spec: { clusterIP: '', clusterIPs: [] } }],
    ['ExternalName (KPX-03)', { spec: { type: 'ExternalName', externalName: 'a.example' } }],
    ['of another proxy (KPX-02)', { labels: { 'service.kubernetes.io/service-proxy-name': '' } }],
    ['of the other family', { family: 'IPv6' }],
  ];
  for (const [title, parts] of skipped) {
    it(`leaves a Service alone that is ${title}`, () => assert.deepEqual(portsOf(parts), []));
  }
});

describe('servicePorts() of one that is not left alone', () => {
  it('gives each port a key, an address and a number', () => {
    const ports = [
      examplePort({ name: 'dns', port: 53, protocol: 'UDP', nodePort: 30053 }),
      examplePort({ name: 'dns-tcp', port: 53 }),
    ];
    assert.deepEqual(
      portsOf({ spec: { ports } }).map(({ key, clusterIP, port, nodePort }) => [
        key,
        clusterIP,
        port,
        nodePort,
      ]),
      [
        ['default/web:dns/UDP', '10.96.0.20', 53, 30053],
        ['default/web:dns-tcp/TCP', '10.96.0.20', 53, undefined],
      ],
    );
  });
  it('takes the address of its family, in one spelling (KPX-51)', () => {
    const spec = { clusterIP: '10.96.0.20', clusterIPs: ['10.96.0.20', 'FD00:96:0::20'] };
    assert.equal(only({ spec, family: 'IPv6' }).clusterIP, 'fd00:96::20');
  });
  it('takes external IPs of its family, unless they are switched off (KPX-26)', () => {
    const spec = { externalIPs: ['203.0.113.1', '2001:db8::1', '203.0.113.1'] };
    assert.deepEqual(only({ spec }).externalIPs, ['203.0.113.1']);
    assert.deepEqual(only({ spec, allowsExternalIPs: false }).externalIPs, []);
  });
  it('takes balancer addresses unless the balancer delivers itself (KPX-27)', () => {
    const status = balancer(
      { ip: '203.0.113.2', ipMode: 'VIP' },
      { ip: '203.0.113.3', ipMode: 'Proxy' },
      { ip: '203.0.113.4' },
      { hostname: 'lb.example' },
    );
    assert.deepEqual(only({ status }).loadBalancerIPs, ['203.0.113.2', '203.0.113.4']);
  });
  it('counts an address that is external and of a balancer as the balancer’s', () => {
    const port = only({
      spec: { externalIPs: ['203.0.113.2', '10.96.0.20'] },
      status: balancer({ ip: '203.0.113.2' }),
    });
    assert.deepEqual([port.externalIPs, port.loadBalancerIPs], [[], ['203.0.113.2']]);
  });
  const ranges: readonly (readonly [string, readonly string[], object])[] = [
    ['none', [], { ranges: undefined, itself: false }],
    ['of this family', ['192.0.2.0/24'], { ranges: ['192.0.2.0/24'], itself: false }],
    ['of everybody (KPX-28)', ['192.0.2.0/24', '0.0.0.0/0'], { ranges: undefined, itself: false }],
    ['of the other family (KPX-28)', ['2001:db8::/32'], { ranges: undefined, itself: false }],
    ['of the node (KPX-29)', ['10.20.0.0/16'], { ranges: ['10.20.0.0/16'], itself: true }],
  ];
  for (const [title, loadBalancerSourceRanges, expected] of ranges) {
    it(`reads source ranges: ${title}`, () => {
      const { sourceRanges, allowsBalancerItself } = only({ spec: { loadBalancerSourceRanges } });
      assert.deepEqual({ ranges: sourceRanges, itself: allowsBalancerItself }, expected);
    });
  }
  it('reads source ranges: those of the annotation where the field is empty (API-27)', () => {
    const annotations = { [sourceRangesAnnotation]: '192.0.2.0/24, 2001:db8::/32' };
    const { sourceRanges } = only({ annotations });
    assert.deepEqual(sourceRanges, ['192.0.2.0/24']);
  });
  it('sticks clients for three hours unless told otherwise (KPX-23)', () => {
    assert.equal(only({}).affinitySeconds, undefined);
    assert.equal(only({ spec: { sessionAffinity: 'ClientIP' } }).affinitySeconds, 10_800);
    const sessionAffinityConfig = { clientIP: { timeoutSeconds: 5 } };
    const spec: ServiceSpec = { sessionAffinity: 'ClientIP', sessionAffinityConfig };
    assert.equal(only({ spec }).affinitySeconds, 5);
  });
  it('has an external policy only where something external leads in (KPX-15)', () => {
    const externalTrafficPolicy = 'Local';
    assert.equal(only({ spec: { externalTrafficPolicy } }).externalPolicy, 'Cluster');
    assert.equal(
      only({ spec: { externalTrafficPolicy, type: 'NodePort' } }).externalPolicy,
      'Local',
    );
    const externalIPs = ['203.0.113.1'];
    assert.equal(only({ spec: { externalTrafficPolicy, externalIPs } }).externalPolicy, 'Local');
  });
  it('has a health check for balancers under policy Local only (KPX-36)', () => {
    const spec: ServiceSpec = { type: 'LoadBalancer', healthCheckNodePort: 30990 };
    assert.equal(only({ spec }).healthCheckNodePort, undefined);
    const local: ServiceSpec = { ...spec, externalTrafficPolicy: 'Local' };
    assert.equal(only({ spec: local }).healthCheckNodePort, 30_990);
  });
});
