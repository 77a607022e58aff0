// What people do to Services with a real kubectl, where no transcript of the conformance lane shows it. One server with
// its controllers and a node for all of them, and few processes.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { isPodReady } from '../../../src/kinds/pod/readiness.ts';
import type { Service } from '../../../src/kinds/service/types.ts';
import { unpackKubectl } from '../../lanes/unpack-kubectl.ts';
import { type Kubectl, openKubectl } from '../harness/kubectl.ts';
import { type NodeHarness, startNodeHarness } from '../harness/node-harness.ts';
import { type Sent, services } from '../harness/service-requests.ts';
import { waitForOutput } from '../harness/wait-for-output.ts';

type Setting = {
  readonly harness: NodeHarness;
  readonly kubectl: Kubectl;
  /** What a command wrote that ended well. */
  readonly does: (line: string, input?: unknown) => Promise<string>;
  readonly read: (name: string) => Promise<Service>;
  /** Of the one pod, which answers with the path it was asked for. */
  readonly port: number;
};

async function openSetting(t: TestContext): Promise<Setting> {
  const harness = await startNodeHarness(t, { controllers: true });
  const program = { name: 'kubectl', path: await unpackKubectl(), env: {} };
  const kubectl = openKubectl(t, program, harness.server.server.address.port);
  const does: Setting['does'] = async (line, input) => {
    const text = input === undefined ? '' : JSON.stringify(input);
    const { code, stdout, stderr } = await kubectl.run(line.split(' '), Buffer.from(text));
    assert.equal(code, 0, `${line}: ${stderr}`);
    return stdout.toString() + stderr;
  };
  await does('apply -f -', web);
  const read: Setting['read'] = (name) => harness.api.get(`${services}/${name}`);
  return { harness, kubectl, does, read, port: await startWebPod(t, harness) };
}

const manifest = (name: string, spec: Sent = {}): Sent => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name },
  spec: { selector: { app: name }, ports: [{ name: 'http', port: 80 }], ...spec },
});

const web = manifest('web', {
  ports: [{ name: 'http', port: 80, targetPort: 'http', appProtocol: 'http' }],
});

async function startWebPod(t: TestContext, harness: NodeHarness): Promise<number> {
  const server = createServer((request, response) => response.end(`web ${request.url}`));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  // The pod is on the network of the node.
  const container = {
    name: 'app',
    image: 'process',
    command: ['sleep', '1000'],
    ports: [{ name: 'http', containerPort: port }],
  };
  const spec = { terminationGracePeriodSeconds: 0, containers: [container] };
  await harness.run('web-1', spec, { labels: { app: 'web' } });
  await harness.until('web-1', isPodReady);
  return port;
}

const slices = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices';
const slicesOf = (service: string): string =>
  `${slices}?watch=1&labelSelector=kubernetes.io/service-name%3D${service}`;

const limit = { timeout: 180_000 };

const commands: readonly (readonly [string, (setting: Setting) => Promise<void>])[] = [
  [
    'create service names ports, labels and selector itself (KCT-17)',
    async ({ does, read }) => {
      await does('create service clusterip made --tcp=80 --tcp=443:8443');
      const { metadata, spec } = await read('made');
      assert.deepEqual(metadata.labels, { app: 'made' });
      assert.deepEqual(spec.selector, { app: 'made' });
      assert.deepEqual(
        spec.ports?.map(({ name, port, targetPort }) => [name, port, targetPort]),
        [
          ['80', 80, 80],
          ['443-8443', 443, 8443],
        ],
      );
      assert.deepEqual(
        metadata.managedFields?.map(({ manager }) => manager),
        ['kubectl-create'],
      );
    },
  ],
  [
    'apply remembers what it applied and changes nothing when it comes again (KCT-19, KCT-21)',
    async ({ does, read }) => {
      const one = manifest('applied', {
        type: 'LoadBalancer',
        ports: [{ name: 'http', port: 80 }],
      });
      assert.match(await does('apply -f -', one), /created/);
      const before = await read('applied');
      const last =
        before.metadata.annotations?.['kubectl.kubernetes.io/last-applied-configuration'];
      assert.equal((JSON.parse(last ?? '{}') as Service).spec.type, 'LoadBalancer');
      assert.match(await does('apply -f -', one), /unchanged/);
      assert.match(
        await does('apply --server-side --force-conflicts -f -', one),
        /serverside-applied/,
      );
      const between = await read('applied');
      await does('apply --server-side -f -', one);
      assert.deepEqual(await read('applied'), between);
      assert.deepEqual(between.spec, before.spec);
    },
  ],
  [
    'diff ends with 1 where something differs, and tries it only (KCT-22)',
    async ({ kubectl, read }) => {
      const stored = await read('web');
      const changed = manifest('web', { type: 'NodePort' });
      const diff = (body: Sent, ...more: readonly string[]) =>
        kubectl.run(['diff', '-f', '-', ...more], Buffer.from(JSON.stringify(body)));
      const other = await diff(changed);
      assert.equal(other.code, 1, other.stderr);
      assert.match(other.stdout.toString(), /^\+ {2}type: NodePort$/m);
      assert.equal((await diff(web)).code, 0);
      assert.equal((await diff(changed, '--server-side', '--force-conflicts')).code, 1);
      assert.deepEqual(await read('web'), stored);
    },
  ],
  [
    'replace takes the place, by force under another uid (KCT-25)',
    async ({ does, read }) => {
      await does('create service clusterip put --tcp=80');
      const { metadata } = await read('put');
      assert.match(await does('replace -f -', manifest('put')), /service\/put replaced/);
      assert.equal((await read('put')).metadata.uid, metadata.uid);
      assert.match(await does('replace --force -f -', manifest('put')), /service\/put replaced/);
      assert.notEqual((await read('put')).metadata.uid, metadata.uid);
    },
  ],
  [
    'selectors are set, and patches of each type are taken (KCT-24, KCT-29)',
    async ({ does, read }) => {
      await does('create service loadbalancer patched --tcp=80');
      await does('set selector service patched tier=front');
      assert.deepEqual((await read('patched')).spec.selector, { tier: 'front' });
      await does(
        'patch svc patched --type=json -p [{"op":"add","path":"/spec/selector/a","value":"b"}]',
      );
      await does('patch svc patched --type=merge -p {"spec":{"selector":{"c":"d"}}}');
      await does(
        'patch svc patched --type=strategic -p {"spec":{"ports":[{"port":81,"name":"more"}]}}',
      );
      const { spec } = await read('patched');
      assert.deepEqual(spec.selector, { tier: 'front', a: 'b', c: 'd' });
      assert.deepEqual(spec.ports?.map(({ port }) => port).sort(), [80, 81]);
    },
  ],
  [
    'wait sees an address come and a service go (KCT-28)',
    async ({ harness, kubectl, does }) => {
      const come = kubectl.run([
        'wait',
        '--for=jsonpath={.status.loadBalancer.ingress}',
        'svc/patched',
        '--timeout=60s',
      ]);
      const status = { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } };
      await harness.api.patch(`${services}/patched/status`, { status });
      assert.deepEqual((await come).code, 0);
      const gone = kubectl.run(['wait', '--for=delete', 'svc/patched', '--timeout=60s']);
      await does('delete svc patched');
      assert.equal((await gone).code, 0);
    },
  ],
  [
    'get watches from now on, and finds by fields in all namespaces (KCT-27)',
    async ({ harness, kubectl, does }) => {
      const watching = kubectl.start(['get', 'svc', '--watch-only', '-o', 'name']);
      let isSeen = false;
      const seen = waitForOutput(watching.stdout, /service\/later/).finally(() => {
        isSeen = true;
      });
      await does('create service clusterip later --tcp=80');
      // kubectl does not tell when it has begun to watch.
      for (let count = 0; !isSeen; count += 1) {
        await harness.api.patch(`${services}/later`, {
          metadata: { labels: { count: `${count}` } },
        });
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      assert.doesNotMatch((await seen).input, /service\/web/);
      watching.kill();
      const found = await does('get svc -A --field-selector spec.clusterIP=10.96.0.1 --no-headers');
      assert.match(found, /^default +kubernetes +ClusterIP +10\.96\.0\.1 +<none> +443\/TCP/);
    },
  ],
  [
    'warnings are shown, and names are generated (KCT-35, KCT-36)',
    async ({ does }) => {
      const { metadata: _named, ...rest } = manifest('x', { externalIPs: ['198.51.100.1'] });
      const output = await does('create -f -', { ...rest, metadata: { generateName: 'gen-' } });
      assert.match(output, /service\/gen-[bcdfghjklmnpqrstvwxz2456789]{5} created/);
      assert.match(
        output,
        /Warning: spec\.externalIPs is deprecated and may no longer be implemented/,
      );
    },
  ],
  [
    'expose cuts the name of a service to 63 characters (KCT-18)',
    async ({ harness, does, read }) => {
      const long = `p${'o'.repeat(79)}d`;
      const containers = [
        { name: 'app', image: 'process', command: ['true'], ports: [{ containerPort: 8080 }] },
      ];
      await harness.run(long, { restartPolicy: 'Never', containers }, { labels: { app: 'long' } });
      await does(`expose pod ${long}`);
      assert.deepEqual(
        (await read(long.slice(0, 63))).spec.ports?.map(({ port }) => port),
        [8080],
      );
    },
  ],
  [
    'cluster-info, version and auth can-i print what the server reports (KCT-32, KCT-33)',
    async ({ does }) => {
      const labels = { 'kubernetes.io/cluster-service': 'true', 'kubernetes.io/name': 'CoreDNS' };
      const dns = {
        ...manifest('kube-dns'),
        metadata: { name: 'kube-dns', namespace: 'kube-system', labels },
      };
      await does('apply -f -', dns);
      const output = await does('cluster-info');
      assert.match(
        output,
        /CoreDNS.* is running at .*\/api\/v1\/namespaces\/kube-system\/services\/kube-dns:http\/proxy/,
      );
      const versions = (await does('api-versions')).trim().split('\n');
      assert.deepEqual(
        ['v1', 'discovery.k8s.io/v1', 'networking.k8s.io/v1', 'events.k8s.io/v1'].filter(
          (v) => !versions.includes(v),
        ),
        [],
      );
      assert.equal(await does('auth can-i update services/status'), 'yes\n');
    },
  ],
  [
    'port-forward finds the pod of a service and the port behind its own (KCT-30)',
    async ({ kubectl, does, port }) => {
      const forwarding = kubectl.start(['port-forward', 'svc/web', ':80']);
      const [, local] = await waitForOutput(
        forwarding.stdout,
        new RegExp(`127\\.0\\.0\\.1:(\\d+) -> ${port}\n`),
      );
      const answer = await fetch(`http://127.0.0.1:${local}/a`);
      assert.equal(await answer.text(), 'web /a');
      forwarding.kill();
      await does(
        'apply -f -',
        manifest('udp', { ports: [{ port: 53, protocol: 'UDP' }], selector: { app: 'web' } }),
      );
      await does('apply -f -', { ...manifest('bare'), spec: { ports: [{ port: 80 }] } });
      const refused = async (name: string, ports: string): Promise<string> => {
        const { code, stderr } = await kubectl.run(['port-forward', `svc/${name}`, ports]);
        assert.equal(code, 1);
        return stderr;
      };
      assert.match(await refused('udp', ':53'), /UDP protocol is not supported for 53/);
      assert.match(
        await refused('bare', ':80'),
        /invalid service 'bare': Service is defined without a selector/,
      );
    },
  ],
  [
    'kubectl proxy leads to a service by way of the server (KCT-31)',
    async ({ kubectl }) => {
      const proxying = kubectl.start(['proxy', '--port=0']);
      const [, base] = await waitForOutput(proxying.stdout, /Starting to serve on (\S+)/);
      const answer = await fetch(`http://${base}${services}/http:web:80/proxy/b?c=d`);
      assert.equal(await answer.text(), 'web /b?c=d');
      proxying.kill();
    },
  ],
  [
    'the application protocol goes on to endpoints and slices (API-17)',
    async ({ harness, port }) => {
      const wanted = [{ name: 'http', port, protocol: 'TCP', appProtocol: 'http' }];
      const endpoints = '/api/v1/namespaces/default/endpoints';
      const seen = async (path: string, holds: (object: Sent) => boolean): Promise<Sent> => {
        const watch = await harness.api.watch<Sent>(path);
        await watch.until((events) => events.some(({ object }) => holds(object)));
        watch.close();
        return watch.events.find(({ object }) => holds(object))?.object ?? {};
      };
      const byName = `${endpoints}?watch=1&fieldSelector=metadata.name%3Dweb`;
      const { subsets } = await seen(byName, (object) => object.subsets !== undefined);
      assert.deepEqual((subsets as readonly Sent[])[0]?.ports, wanted);
      const { ports } = await seen(slicesOf('web'), (object) => object.ports !== null);
      assert.deepEqual(ports, wanted);
    },
  ],
  [
    'describe finds the endpoints in slices, and shows three that are ready (KCT-15)',
    async ({ harness, does }) => {
      await does('apply -f -', { ...manifest('by-hand'), spec: { ports: [{ port: 80 }] } });
      const endpoint = (at: number): Sent => ({
        addresses: [`198.51.100.${at}`],
        conditions: { ready: at !== 2 },
      });
      await harness.api.post(slices, {
        metadata: { name: 'by-hand', labels: { 'kubernetes.io/service-name': 'by-hand' } },
        addressType: 'IPv4',
        endpoints: [1, 2, 3, 4, 5].map(endpoint),
        ports: [{ port: 80 }],
      });
      assert.match(
        await does('describe svc by-hand'),
        /Endpoints: +198\.51\.100\.1:80,198\.51\.100\.3:80,198\.51\.100\.4:80 \+ 1 more\.\.\./,
      );
    },
  ],
  [
    'commands that look through kinds that are not here find them empty',
    async ({ does }) => {
      const labelled = (name: string): Sent => {
        const one = manifest(name);
        return { ...one, metadata: { name, labels: { set: 'pruned' } } };
      };
      const both = { apiVersion: 'v1', kind: 'List', items: ['kept', 'gone'].map(labelled) };
      await does('apply -f -', both);
      assert.match(
        await does('apply --prune --selector=set=pruned -f -', labelled('kept')),
        /service\/gone pruned/,
      );
      assert.match(
        await does('describe namespace default'),
        /No resource quota\.\s+No LimitRange resource\./,
      );
      assert.match(await does('cluster-info dump'), /"kind": "DaemonSetList"/);
      assert.match(await does('get deployment,statefulset'), /No resources found/);
    },
  ],
  [
    'delete takes slices along by way of their owner (KCT-26, KCT-39)',
    async ({ harness, does }) => {
      const watch = await harness.api.watch(slicesOf('web'));
      await watch.until((events) => events.length > 0);
      assert.match(await does('delete svc web'), /service "web" deleted/);
      await watch.until((events) => events.some(({ type }) => type === 'DELETED'));
      watch.close();
    },
  ],
  [
    'apply of what this server does not have is answered by the server, not by the schema',
    async ({ kubectl }) => {
      const sent = {
        apiVersion: 'autoscaling/v2',
        kind: 'HorizontalPodAutoscaler',
        metadata: { name: 'a' },
        spec: {},
      };
      for (const way of [[], ['--server-side']]) {
        const { stderr } = await kubectl.run(
          ['apply', '-f', '-', ...way],
          Buffer.from(JSON.stringify(sent)),
        );
        assert.match(
          stderr,
          /horizontalpodautoscalers\.autoscaling cannot be stored here: .*kubectl scale/,
        );
      }
    },
  ],
];

test('kubectl and services', limit, async (t) => {
  const setting = await openSetting(t);
  for (const [title, run] of commands) await t.test(title, () => run(setting));
});
