// Changed Services: what stays, what the server carries over or wipes, what may not change.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { assertExact, readAllocations } from '../harness/allocation-checks.ts';
import { type MemoryServer, startMemoryServer } from '../harness/memory-server.ts';
import {
  assertSpec,
  causes,
  type Sent,
  serviceRequests,
  services,
} from '../harness/service-requests.ts';

let running: MemoryServer;
before(async () => {
  running = await startMemoryServer();
});
after(() => running.stop());

const { have, patch, read } = serviceRequests(() => running.api);

const ports = [{ port: 80 }];
const ported = { ports };
const absent = undefined;
const headless = { ports, clusterIP: 'None', selector: { app: 'web' } };
const single = { ports, clusterIP: '10.96.44.1' };
const dual = {
  ports,
  clusterIP: '10.96.46.1',
  clusterIPs: ['10.96.46.1', 'fd00:96::46'],
  ipFamilyPolicy: 'PreferDualStack',
};
const balancer = {
  type: 'LoadBalancer',
  ports: [{ port: 80, nodePort: 30124 }],
  externalTrafficPolicy: 'Local',
  healthCheckNodePort: 30125,
  loadBalancerClass: 'example.com/a',
};
const onlyBalancers = "may only be used when `type` is 'LoadBalancer'";
const singleToRelease = "must be 'SingleStack' to release the secondary";
const toName = { type: 'ExternalName', externalName: 'db.example.com' };

/** Nothing of a refused change is seen afterwards, and what was held is held still. */
const refused: readonly [string, Sent, Sent, readonly string[]][] = [
  [
    'another address (API-44)',
    single,
    { clusterIP: '10.96.44.2' },
    ['Invalid spec.clusterIPs[0]: Invalid value: ["10.96.44.2"]: may not change once set'],
  ],
  [
    'another address in the list alone (API-40, API-44)',
    single,
    { clusterIPs: ['10.96.44.2'] },
    ['Invalid spec.clusterIPs: Invalid value: ["10.96.44.2"]: first value must match `clusterIP`'],
  ],
  [
    'no address any more (API-45)',
    single,
    { clusterIP: 'None' },
    ['Invalid spec.clusterIPs[0]: Invalid value: ["None"]: may not change once set'],
  ],
  [
    'an address for a headless service, of which the families say nothing (API-45)',
    headless,
    { clusterIP: 'fd00:96::45', clusterIPs: ['fd00:96::45'], ipFamilies: ['IPv6'] },
    ['Invalid spec.clusterIPs[0]: Invalid value: ["fd00:96::45"]: may not change once set'],
  ],
  [
    'a node port for a headless service (API-33)',
    headless,
    { type: 'NodePort' },
    [
      'Invalid spec.clusterIPs[0]: Invalid value: "None": may not be set to \'None\' for NodePort services',
    ],
  ],
  [
    'one address and one family less under a dual-stack policy (API-46)',
    dual,
    { clusterIPs: ['10.96.46.1'], ipFamilies: ['IPv4'], ipFamilyPolicy: 'RequireDualStack' },
    [
      `Invalid spec.ipFamilyPolicy: Invalid value: "RequireDualStack": ${singleToRelease} cluster IP`,
      `Invalid spec.ipFamilyPolicy: Invalid value: "RequireDualStack": ${singleToRelease} IP family`,
    ],
  ],
  [
    'only the second address kept (API-44, API-46)',
    dual,
    {
      clusterIP: 'fd00:96::46',
      clusterIPs: ['fd00:96::46'],
      ipFamilies: ['IPv6'],
      ipFamilyPolicy: 'SingleStack',
    },
    [
      'Invalid spec.clusterIPs[0]: Invalid value: ["fd00:96::46"]: may not change once set',
      'Invalid spec.ipFamilies[0]: Invalid value: ["fd00:96::46"]: may not change once set',
    ],
  ],
  [
    'a family that the address is not of (API-42)',
    single,
    { ipFamilies: ['IPv6'] },
    [
      'Invalid spec.clusterIPs[0]: Invalid value: "10.96.44.1": expected an IPv6 value as indicated by `ipFamilies[0]`',
    ],
  ],
  [
    'another class, told with its form and once more (API-24)',
    balancer,
    { loadBalancerClass: 'b c' },
    [
      'may not change once set',
      ...Array<string>(2).fill(
        "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
      ),
    ].map((text) => `Invalid spec.loadBalancerClass: Invalid value: "b c": ${text}`),
  ],
  [
    'no class any more (API-24)',
    balancer,
    { loadBalancerClass: null },
    ['Invalid spec.loadBalancerClass: Invalid value: null: may not change once set'],
  ],
  [
    'another health check port (API-36)',
    balancer,
    { healthCheckNodePort: 30126 },
    ['Forbidden spec.healthCheckNodePort: Forbidden: field is immutable'],
  ],
  [
    'another type along with what the type would have wiped (API-25, API-54, API-55, API-56, API-57)',
    balancer,
    {
      type: 'ClusterIP',
      ports: [{ port: 80, nodePort: 30127 }],
      loadBalancerClass: 'example.com/b',
      allocateLoadBalancerNodePorts: false,
      externalTrafficPolicy: 'Cluster',
      healthCheckNodePort: 30126,
    },
    [
      `Forbidden spec.loadBalancerClass: Forbidden: ${onlyBalancers}`,
      "Forbidden spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'",
      `Forbidden spec.allocateLoadBalancerNodePorts: Forbidden: ${onlyBalancers}`,
      `Forbidden spec.loadBalancerClass: Forbidden: ${onlyBalancers}`,
      'Invalid spec.externalTrafficPolicy: Invalid value: "Cluster": may only be set for externally-accessible services',
      "Invalid spec.healthCheckNodePort: Invalid value: 30126: may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'",
    ],
  ],
  [
    'ExternalName with one family less (API-52)',
    dual,
    { ...toName, ipFamilies: ['IPv4'] },
    ['Forbidden spec.ipFamilies: Forbidden: may not be set for ExternalName services'],
  ],
  [
    'another type with source ranges, which stay (API-58)',
    { type: 'LoadBalancer', ports, loadBalancerSourceRanges: ['10.0.0.0/8'] },
    { type: 'NodePort' },
    [`Forbidden spec.LoadBalancerSourceRanges: Forbidden: ${onlyBalancers}`],
  ],
];

for (const [title, spec, changes, wanted] of refused) {
  test(`refused: ${title}`, async () => {
    const name = await have(spec);
    const [stored, held] = [await read(name), await readAllocations(running.store)];
    assert.deepEqual(causes(await patch(name, { spec: changes })), wanted);
    assert.deepEqual(await read(name), stored);
    assert.deepEqual(
      await readAllocations(running.store),
      held,
      'nothing taken or given back (API-74)',
    );
    await running.api.delete(`${services}/${name}`);
  });
}

const done: readonly [string, Sent, Sent, Sent][] = [
  [
    'a headless service may change its families (API-45)',
    headless,
    { ipFamilies: ['IPv6', 'IPv4'], ipFamilyPolicy: 'RequireDualStack' },
    { clusterIPs: ['None'], ipFamilies: ['IPv6', 'IPv4'] },
  ],
  [
    'policy SingleStack alone lets the second address go (API-46)',
    dual,
    { ipFamilyPolicy: 'SingleStack' },
    { clusterIPs: ['10.96.46.1'], ipFamilies: ['IPv4'] },
  ],
  [
    'a second address may come, as asked for (API-46)',
    single,
    { clusterIPs: ['10.96.44.1', 'fd00:96::44'], ipFamilyPolicy: 'PreferDualStack' },
    { clusterIPs: ['10.96.44.1', 'fd00:96::44'], ipFamilies: ['IPv4', 'IPv6'] },
  ],
  [
    'addresses and families that are taken away come back (API-47)',
    dual,
    { clusterIP: null, clusterIPs: null, ipFamilies: null, ipFamilyPolicy: null },
    {
      ...dual,
      ports: [{ protocol: 'TCP', port: 80, targetPort: 80 }],
      ipFamilies: ['IPv4', 'IPv6'],
    },
  ],
  [
    'ExternalName wipes addresses and families (API-52)',
    dual,
    toName,
    {
      clusterIP: absent,
      clusterIPs: absent,
      ipFamilies: absent,
      ipFamilyPolicy: absent,
      internalTrafficPolicy: absent,
    },
  ],
  [
    'headless wipes its None as ExternalName (API-52)',
    headless,
    toName,
    { clusterIP: absent, clusterIPs: absent, ipFamilies: absent, ipFamilyPolicy: absent },
  ],
  [
    'ExternalName gets the addresses it asks for as another type (API-53)',
    toName,
    { ...dual, type: 'ClusterIP' },
    { clusterIPs: dual.clusterIPs, ipFamilies: ['IPv4', 'IPv6'], internalTrafficPolicy: 'Cluster' },
  ],
  [
    'ExternalName may become headless (API-53)',
    toName,
    { type: 'ClusterIP', clusterIP: 'None', ...ported },
    { clusterIPs: ['None'], ipFamilies: ['IPv4', 'IPv6'], ipFamilyPolicy: 'RequireDualStack' },
  ],
  [
    'a type without node ports loses all that went with them (API-25, API-54, API-55, API-56, API-57)',
    balancer,
    { type: 'ClusterIP' },
    {
      ports: [{ protocol: 'TCP', port: 80, targetPort: 80 }],
      loadBalancerClass: absent,
      allocateLoadBalancerNodePorts: absent,
      externalTrafficPolicy: absent,
      healthCheckNodePort: absent,
    },
  ],
  [
    'NodePort keeps the node port and the policy of a load balancer (API-55, API-57)',
    balancer,
    { type: 'NodePort' },
    {
      ports: [{ protocol: 'TCP', port: 80, targetPort: 80, nodePort: 30124 }],
      externalTrafficPolicy: 'Local',
      healthCheckNodePort: absent,
      loadBalancerClass: absent,
    },
  ],
  [
    'policy Cluster wipes the health check port (API-56)',
    balancer,
    { externalTrafficPolicy: 'Cluster' },
    { healthCheckNodePort: absent, externalTrafficPolicy: 'Cluster' },
  ],
  [
    'an external IP keeps the policy where the type would not (API-57)',
    { ...balancer, externalIPs: ['198.51.100.1'] },
    { type: 'ClusterIP' },
    { externalTrafficPolicy: 'Local', healthCheckNodePort: absent },
  ],
  [
    'the policy goes with the last external IP (API-57)',
    { ...ported, externalIPs: ['198.51.100.1'], externalTrafficPolicy: 'Local' },
    { externalIPs: null },
    { externalTrafficPolicy: absent },
  ],
  [
    'what is not given out stays through a change of type (API-58)',
    {
      ...ported,
      selector: { app: 'web' },
      externalIPs: ['198.51.100.1'],
      sessionAffinity: 'ClientIP',
    },
    toName,
    {
      ports: [{ protocol: 'TCP', port: 80, targetPort: 80 }],
      selector: { app: 'web' },
      externalIPs: ['198.51.100.1'],
      sessionAffinity: 'ClientIP',
    },
  ],
];

for (const [title, spec, changes, wanted] of done) {
  test(title, async () => {
    const name = await have(spec);
    assertSpec(await patch(name, { spec: changes }), wanted);
    await assertExact(running.store);
    await running.api.delete(`${services}/${name}`);
  });
}
