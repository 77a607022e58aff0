import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeObject } from '../meta/object.ts';
import { isJsonObject } from '../schema/json-object.ts';
import { parseYamlStream } from '../schema/yaml.ts';
import { now } from './example.ts';
import type { Manifest } from './manifest.ts';
import { type ManifestSnapshot, snapshotOfManifests } from './snapshot-of-manifests.ts';

function manifestsIn(text: string, source = 'all.yaml'): readonly Manifest[] {
  return parseYamlStream(text).map((parsed) => {
    assert.ok('value' in parsed && isJsonObject(parsed.value));
    const { line, duplicates } = parsed;
    return { source, line, duplicates, object: parsed.value as unknown as KubeObject };
  });
}

const read = (text: string): ManifestSnapshot =>
  snapshotOfManifests(manifestsIn(text), { namespace: 'default', now });

const service = `
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{port: 80, targetPort: http}]}
`;
const template = `
    metadata: {labels: {app: web}}
    spec: {containers: [{name: app, image: app, ports: [{name: http, containerPort: 8080}]}]}`;
const workload = (kind: string, spec: string): string => `
apiVersion: apps/v1
kind: ${kind}
metadata: {name: web}
spec:
  ${spec}
  selector: {matchLabels: {app: web}}
  template:${template}
`;

/** Address, port and pod of each endpoint of `web`. */
function endpointsOf({ snapshot }: ManifestSnapshot): readonly string[] {
  return snapshot.objects.endpointSlices
    .filter(({ addressType }) => addressType === 'IPv4')
    .flatMap(({ endpoints, ports }) =>
      (endpoints ?? []).map(
        ({ targetRef, nodeName }) => `${targetRef?.name} ${ports?.[0]?.port} ${nodeName}`,
      ),
    )
    .sort();
}

describe('snapshotOfManifests()', () => {
  it('settles a deployment on nodes that are made up', () => {
    const found = read(`${service}---${workload('Deployment', 'replicas: 3')}`);
    assert.deepEqual(found.problems, []);
    assert.equal(found.hasMadeUpNodes, true);
    assert.deepEqual(
      endpointsOf(found).map((text) => text.split(' ').slice(1).join(' ')),
      ['8080 node-a1', '8080 node-a2', '8080 node-b1'],
    );
    const [web] = found.snapshot.objects.services;
    assert.deepEqual(web?.spec.clusterIPs, ['10.96.1.1']);
    assert.deepEqual(
      found.snapshot.objects.namespaces.map(({ metadata }) => metadata.name),
      ['default'],
    );
  });

  it('makes the pods of a StatefulSet', () => {
    const found = read(
      `${service}---${workload('StatefulSet', 'replicas: 2\n  serviceName: web')}`,
    );
    assert.deepEqual(found.problems, []);
    assert.deepEqual(endpointsOf(found), ['web-0 8080 node-a1', 'web-1 8080 node-a2']);
    const [slice] = found.snapshot.objects.endpointSlices;
    assert.deepEqual(
      slice?.endpoints?.map(({ hostname }) => hostname),
      ['web-0', 'web-1'],
    );
  });

  it('makes the pods of a DaemonSet, one on each node', () => {
    const found = read(`${service}---${workload('DaemonSet', '')}`);
    assert.deepEqual(
      endpointsOf(found).map((text) => text.split(' ')[2]),
      ['node-a1', 'node-a2', 'node-b1'],
    );
  });

  it('makes the pods of Jobs, CronJobs and ReplicationControllers', () => {
    const found = read(`
apiVersion: batch/v1
kind: Job
metadata: {name: once}
spec:
  completions: 1
  parallelism: 5
  template:${template}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: often}
spec:
  jobTemplate:
    spec: {template: {metadata: {labels: {app: web}}, spec: {containers: [{name: a, image: a}]}}}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: never}
spec: {suspend: true, jobTemplate: {spec: {template: {spec: {containers: []}}}}}
---
apiVersion: v1
kind: ReplicationController
metadata: {name: old}
spec:
  replicas: 2
  template:${template}
`);
    assert.deepEqual(found.problems, []);
    assert.deepEqual(
      found.snapshot.objects.pods.map(({ metadata }) => metadata.ownerReferences?.[0]?.name),
      ['once', 'often', 'old', 'old'],
    );
  });

  it('ignores other kinds, and names them', () => {
    const found = read(`
{apiVersion: cert-manager.io/v1, kind: Certificate, metadata: {name: a}}
---
{apiVersion: cert-manager.io/v1, kind: Certificate, metadata: {name: b}}
---
{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: a}}
---
{apiVersion: v1, kind: Secret, metadata: {name: a}}
`);
    assert.deepEqual(found.problems, []);
    assert.deepEqual(found.ignoredKinds, ['Certificate', 'HorizontalPodAutoscaler']);
  });

  it('gives load balancers and node ports what a cluster would', () => {
    const { snapshot } = read(`
apiVersion: v1
kind: Service
metadata: {name: any}
spec: {type: LoadBalancer, externalTrafficPolicy: Local, ports: [{port: 80}]}
---
apiVersion: v1
kind: Service
metadata: {name: fixed}
spec: {type: NodePort, clusterIP: 10.43.0.10, ports: [{port: 80, nodePort: 30086}]}
`);
    const [fixed, any] = snapshot.objects.services;
    assert.deepEqual(any?.status.loadBalancer.ingress, [{ ip: '203.0.113.1', ipMode: 'VIP' }]);
    assert.ok((any?.spec.ports?.[0]?.nodePort ?? 0) > 30086);
    assert.equal(fixed?.spec.clusterIP, '10.43.0.10');
  });
});

describe('snapshotOfManifests() takes what is there', () => {
  it('uses nodes of the manifests', () => {
    const found = read(`${service}---${workload('Deployment', 'replicas: 2')}---
apiVersion: v1
kind: Node
metadata: {name: only}
spec: {podCIDR: 10.1.0.0/24}
`);
    assert.equal(found.hasMadeUpNodes, false);
    assert.deepEqual(
      found.snapshot.objects.pods.map(({ status }) => status.podIP),
      ['10.1.0.2', '10.1.0.3'],
    );
  });

  it('keeps the status of objects that were read from a cluster', () => {
    const { snapshot } = read(`
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: a, uid: "1", resourceVersion: "7", labels: {app: web}}
spec: {nodeName: far, containers: [{name: app, image: app}]}
status: {phase: Running, podIP: 10.9.9.9, podIPs: [{ip: 10.9.9.9}], conditions: [{type: Ready, status: "False"}]}
`);
    const [pod] = snapshot.objects.pods;
    assert.equal(pod?.status.podIP, '10.9.9.9');
    assert.ok(snapshot.objects.nodes.some(({ metadata }) => metadata.name === 'far'));
  });

  it('names the file and line of an object', () => {
    const found = read(`# a comment\n---\n${service}`);
    const [web] = found.snapshot.objects.services;
    assert.ok(web);
    assert.deepEqual(found.sourceOf(web), { source: 'all.yaml', line: 4 });
    const [node] = found.snapshot.objects.nodes;
    assert.equal(node && found.sourceOf(node), undefined);
  });
});

describe('snapshotOfManifests() reports what the API server would refuse', () => {
  const refusals: readonly { name: string; text: string; message: RegExp }[] = [
    {
      name: 'an unknown field',
      text: '{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {port: 80}}',
      message:
        /^Service in version "v1" cannot be handled as a Service: strict decoding error: unknown field "spec.port"$/,
    },
    {
      name: 'a wrong type',
      text: '{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {selector: web}}',
      message: /json: cannot unmarshal string into Go struct field ServiceSpec.spec.selector/,
    },
    {
      name: 'an invalid value',
      text: '{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {ports: [{port: 70000, targetPort: 80}]}}',
      message:
        /^Service "a" is invalid: spec.ports\[0\].port: Invalid value: 70000: must be between 1 and 65535/,
    },
    {
      name: 'a key that is given twice',
      text: 'apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {ports: [{port: 80}], ports: [{port: 81}]}',
      message: /yaml: unmarshal errors:\n {2}line 4: key "ports" already set in map/,
    },
    {
      name: 'a name that is none',
      text: '{apiVersion: v1, kind: Service, metadata: {name: A_b}, spec: {ports: [{port: 80}]}}',
      message: /metadata.name: Invalid value: "A_b"/,
    },
    {
      name: 'a version that is not served',
      text: '{apiVersion: extensions/v1beta1, kind: Ingress, metadata: {name: a}}',
      message: /^no matches for kind "Ingress" in version "extensions\/v1beta1"$/,
    },
    {
      name: 'a version of a group that is not served',
      text: '{apiVersion: apps/v1beta1, kind: Deployment, metadata: {name: a}}',
      message: /^no matches for kind "Deployment" in version "apps\/v1beta1"$/,
    },
    {
      name: 'an address that is given out',
      text: `{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {clusterIP: 10.96.0.9, ports: [{port: 80}]}}
---
{apiVersion: v1, kind: Service, metadata: {name: b}, spec: {clusterIP: 10.96.0.9, ports: [{port: 80}]}}`,
      message: /failed to allocate IP 10.96.0.9: provided IP is already allocated/,
    },
    {
      name: 'a broken template',
      text: '{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: a}, spec: {template: {spec: {containers: web}}}}',
      message:
        /^StatefulSet in version "v1" cannot be handled as a StatefulSet: json: cannot unmarshal string/,
    },
    {
      name: 'too many pods',
      text: workload('Deployment', 'replicas: 1000000'),
      message: /^more than 10000 new pods are needed/,
    },
  ];
  for (const { name, text, message } of refusals) {
    it(`such as ${name}`, () => {
      const { problems } = read(text);
      assert.match(problems[0]?.message ?? '', message);
      assert.equal(problems.length, message.source === '^$' ? 0 : 1);
    });
  }
});
