// Pods of real images in a real `up`: the tutorial of the documentation, with images from a registry on loopback that stands for Docker Hub.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import {
  buildImage,
  busyboxImage,
  busyboxLayer,
  busyboxMissing,
  layerOf,
} from '../parts/harness/images/build-image.ts';
import { type ServedRegistry, serveRegistry } from '../parts/harness/images/serve-registry.ts';
import {
  endWith,
  type Identity,
  makeDirectory,
  removeDirectory,
  startUp,
  subordinateMissing,
  type Up,
  until,
} from './up-harness.ts';

const timeout = 900_000;
const identities = [
  'root',
  'an ordinary user',
  'an ordinary user with subordinate IDs',
] as const satisfies readonly Identity[];

type Run = {
  readonly identity: Identity;
  readonly directory: string;
  readonly up: () => Up;
  readonly registry: () => ServedRegistry;
  readonly restart: () => Promise<void>;
};

/** What the tutorial needs of nginx. */
const page = '<h1>Welcome to nginx!</h1>\n';
const nginx = buildImage({
  layers: [
    busyboxLayer(),
    layerOf([
      { name: 'usr/share/nginx/html/', type: 'directory' },
      { name: 'usr/share/nginx/html/index.html', content: page },
    ]),
  ],
  config: {
    Entrypoint: ['/bin/httpd'],
    Cmd: ['-f', '-p', '80', '-h', '/usr/share/nginx/html'],
    Env: ['PATH=/bin:/usr/bin', 'NGINX_VERSION=1.28'],
    ExposedPorts: { '80/tcp': {} },
    StopSignal: 'SIGQUIT',
  },
});

/** https://kubernetes.io/docs/concepts/services-networking/service/, as it is printed there. */
const tutorial = `apiVersion: v1
kind: Pod
metadata:
  name: nginx
  labels:
    app.kubernetes.io/name: proxy
spec:
  containers:
  - name: nginx
    image: nginx:stable
    ports:
      - containerPort: 80
        name: http-web-svc

---
apiVersion: v1
kind: Service
metadata:
  name: nginx-service
spec:
  selector:
    app.kubernetes.io/name: proxy
  ports:
  - name: name-of-service-port
    protocol: TCP
    port: 80
    targetPort: http-web-svc
`;

const missing = busyboxMissing() ?? false;

for (const identity of identities) {
  const skip = missing || (identity.includes('subordinate') && subordinateMissing());
  describe(`images as ${identity}`, { timeout, skip }, () => {
    const directory = makeDirectory(identity);
    let registry: ServedRegistry;
    let up: Up;
    const start = async (): Promise<void> => {
      up = await startUp(identity, directory, ['--registries', join(directory, 'registries.yaml')]);
    };
    before(async () => {
      registry = await serveRegistry();
      registry.add('library/nginx:stable', nginx);
      registry.add('library/busybox:1', busyboxImage());
      writeFileSync(
        join(directory, 'registries.yaml'),
        JSON.stringify({ registries: { 'docker.io': { mirrors: [`http://${registry.host}`] } } }),
      );
      await start();
    });
    after(async () => {
      const { exitCode, signalCode } = up.process;
      if (exitCode === null && signalCode === null) await endWith(up, 'SIGKILL');
      await registry.stop();
      removeDirectory(directory);
    });
    const run: Run = {
      ...{ identity, directory, up: () => up, registry: () => registry },
      async restart() {
        await endWith(up, 'SIGKILL');
        await start();
      },
    };
    runTutorial(run);
    pullThem(run);
    refuseThem(run);
    useThem(run);
    shareThem(run);
    deleteEarly(run);
    restartThem(run);
    giveSecrets(run);
    purgeThem(run);
  });
}

async function apply({ up, directory }: Run, name: string, text: string): Promise<void> {
  const file = join(directory, `${name}.yaml`);
  writeFileSync(file, text);
  await up().kubectl('apply', '-f', file);
}

/** A pod as one JSON document. */
const pod = (name: string, spec: object, labels: object = {}): string =>
  JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata: { name, labels }, spec });

const kubectl = (run: Run, ...args: readonly string[]): Promise<string> =>
  run.up().kubectl(...args);

const isReady = async (run: Run, name: string): Promise<void> => {
  await kubectl(run, 'wait', '--for=condition=Ready', `pod/${name}`, '--timeout=120s');
};

type Status = {
  readonly image: string;
  readonly imageID: string;
  readonly containerID?: string;
  readonly state: { readonly waiting?: { readonly reason: string; readonly message: string } };
};

async function containerOf(run: Run, name: string): Promise<Status | undefined> {
  const text = await kubectl(run, 'get', 'pod', name, '-o', 'json');
  return JSON.parse(text).status.containerStatuses?.[0];
}

function runTutorial(run: Run): void {
  test('the tutorial of the documentation works as it is printed', async () => {
    await apply(run, 'tutorial', tutorial);
    await isReady(run, 'nginx');
    await apply(
      run,
      'client',
      pod('client', {
        containers: [{ name: 'app', image: 'busybox:1', command: ['sleep', '100000'] }],
      }),
    );
    await isReady(run, 'client');
    const answer = await until(() =>
      kubectl(run, 'exec', 'client', '--', 'wget', '-qO-', 'http://nginx-service').catch(
        () => undefined,
      ),
    );
    assert.equal(answer, page);
    const status = await containerOf(run, 'nginx');
    assert.equal(status?.image, 'docker.io/library/nginx:stable');
    assert.equal(status?.imageID, `docker.io/library/nginx@${nginx.manifest.digest}`);
    assert.match(status?.containerID ?? '', /^oci:\/\/[0-9a-f]{64}$/);
  });
}

type Waiting = { readonly reason: string; readonly message: string };

async function waitingOf(run: Run, name: string, reason: string): Promise<Waiting> {
  return until(async () => {
    const waiting = (await containerOf(run, name))?.state.waiting;
    return waiting?.reason === reason ? waiting : undefined;
  });
}

async function eventsOf(run: Run, name: string): Promise<readonly string[]> {
  const text = await kubectl(
    run,
    ...['get', 'events', '-o', 'json', `--field-selector=involvedObject.name=${name}`],
  );
  type Event = { readonly reason: string; readonly message: string };
  return (JSON.parse(text).items as readonly Event[]).map((e) => `${e.reason}: ${e.message}`);
}

/** Events are written after what they are about. */
const hasEvent = (run: Run, name: string, wanted: RegExp): Promise<true> =>
  until(async () =>
    (await eventsOf(run, name)).some((text) => wanted.test(text)) ? true : undefined,
  );

function pullThem(run: Run): void {
  test('a pull says how it goes, and a second pod needs none', async () => {
    await hasEvent(run, 'nginx', /^Pulling: Pulling image "nginx:stable"$/);
    await hasEvent(
      run,
      'nginx',
      /^Pulled: Successfully pulled image "nginx:stable" in [\d.ms]+ \([\d.ms]+ including waiting\)\. Image size: \d+ bytes\.$/,
    );
    const before = run.registry().requests.length;
    await apply(
      run,
      'second',
      pod('second', { containers: [{ name: 'app', image: 'nginx:stable' }] }),
    );
    await isReady(run, 'second');
    await hasEvent(
      run,
      'second',
      /^Pulled: Container image "nginx:stable" already present on machine and can be accessed by the pod$/,
    );
    assert.equal(run.registry().requests.length, before);
    const node = JSON.parse(await kubectl(run, 'get', 'node', 'node-1', '-o', 'json'));
    const names = (node.status.images as readonly { names: readonly string[] }[]).flatMap(
      (i) => i.names,
    );
    assert.ok(names.includes('docker.io/library/nginx:stable'), names.join());
  });

  test('an image that is not there is reported, and found when it comes', async () => {
    const container = {
      name: 'app',
      image: `${run.registry().host}/team/late:1`,
      command: ['sleep', '100000'],
    };
    await apply(run, 'late', pod('late', { containers: [container] }));
    const { message } = await waitingOf(run, 'late', 'ErrImagePull');
    assert.match(message, /^rpc error: code = NotFound desc = .*team\/late:1/);
    await hasEvent(
      run,
      'late',
      /^Failed: Failed to pull image "127.*team\/late:1": rpc error: code = NotFound/,
    );
    await hasEvent(run, 'late', /^Failed: Error: ErrImagePull$/);
    const backOff = await waitingOf(run, 'late', 'ImagePullBackOff');
    assert.match(
      backOff.message,
      /^Back-off pulling image "127.*team\/late:1": ErrImagePull: rpc error/,
    );
    run.registry().add('team/late:1', busyboxImage());
    await isReady(run, 'late');
  });
}

function refuseThem(run: Run): void {
  test('names that are none, and policies that forbid a pull, have reasons of their own', async () => {
    const container = { name: 'app', image: 'Not/A:Name' };
    await apply(run, 'nameless', pod('nameless', { containers: [container] }));
    const { message } = await waitingOf(run, 'nameless', 'InvalidImageName');
    assert.match(
      message,
      /^Failed to apply default image tag "Not\/A:Name": couldn't parse image name/,
    );
    const never = { name: 'app', image: 'team/never:1', imagePullPolicy: 'Never' };
    await apply(run, 'never', pod('never', { containers: [never] }));
    assert.deepEqual(await waitingOf(run, 'never', 'ErrImageNeverPull'), {
      reason: 'ErrImageNeverPull',
      message: 'Container image "team/never:1" is not present with pull policy of Never',
    });
  });

  test('a container that must not be root says which user its image has', async () => {
    run.registry().add('team/named:1', busyboxImage({ config: { User: 'app' } }));
    run.registry().add('team/numbered:1', busyboxImage({ config: { User: '1000' } }));
    const make = (name: string, image: string): Promise<void> =>
      apply(
        run,
        name,
        pod(name, {
          securityContext: { runAsNonRoot: true },
          containers: [{ name: 'app', image, command: ['sleep', '100000'] }],
        }),
      );
    await make('as-root', 'busybox:1');
    await make('as-name', 'team/named:1');
    await make('as-number', 'team/numbered:1');
    const error = 'CreateContainerConfigError';
    assert.match(
      (await waitingOf(run, 'as-root', error)).message,
      /^container has runAsNonRoot and image will run as root \(pod: "as-root_default\(/,
    );
    assert.match(
      (await waitingOf(run, 'as-name', error)).message,
      /^container has runAsNonRoot and image has non-numeric user \(app\), cannot verify user is non-root/,
    );
    await isReady(run, 'as-number');
    assert.equal(await kubectl(run, 'exec', 'as-number', '--', 'id', '-u'), '1000\n');
  });
}

function useThem(run: Run): void {
  test('init containers, sidecars, probes, hooks, volumes and logs work with images', async () => {
    const image = 'busybox:1';
    const volumeMounts = [{ name: 'site', mountPath: '/site' }];
    await apply(
      run,
      'whole',
      pod('whole', {
        initContainers: [
          {
            name: 'init',
            image,
            volumeMounts,
            command: ['sh', '-c', 'echo made > /site/index.html'],
          },
          {
            ...{ name: 'sidecar', image, volumeMounts, restartPolicy: 'Always' },
            command: ['httpd', '-f', '-p', '8080', '-h', '/site'],
            startupProbe: { httpGet: { port: 8080, path: '/' } },
          },
        ],
        containers: [
          {
            ...{ name: 'app', image, volumeMounts },
            command: ['sh', '-c', 'wget -qO- http://127.0.0.1:8080; exec sleep 100000'],
            lifecycle: { postStart: { exec: { command: ['touch', '/tmp/hooked'] } } },
            readinessProbe: { exec: { command: ['cat', '/tmp/hooked'] }, periodSeconds: 1 },
          },
        ],
        volumes: [{ name: 'site', emptyDir: {} }],
      }),
    );
    await isReady(run, 'whole');
    assert.equal(await kubectl(run, 'logs', 'whole', '-c', 'app'), 'made\n');
    assert.equal(
      await kubectl(
        run,
        'exec',
        'whole',
        '-c',
        'app',
        '--',
        'sh',
        '-c',
        'id -u; hostname; cat /etc/hostname',
      ),
      '0\nwhole\nwhole\n',
    );
  });

  test('a volume can be an image', async () => {
    await apply(
      run,
      'mounting',
      pod('mounting', {
        containers: [
          {
            ...{ name: 'app', image: 'busybox:1', command: ['sleep', '100000'] },
            volumeMounts: [{ name: 'pages', mountPath: '/pages', subPath: 'usr/share/nginx/html' }],
          },
        ],
        volumes: [{ name: 'pages', image: { reference: 'nginx:stable' } }],
      }),
    );
    await isReady(run, 'mounting');
    assert.equal(await kubectl(run, 'exec', 'mounting', '--', 'cat', '/pages/index.html'), page);
  });
}

function shareThem(run: Run): void {
  test('kubectl debug adds a container of another image', async () => {
    await kubectl(
      run,
      ...['debug', 'nginx', '--image=busybox:1', '--container=debugger', '--', 'sh', '-c'],
      'wget -qO- http://127.0.0.1:80; sleep 100000',
    );
    assert.equal(
      await until(async () => {
        const text = await kubectl(run, 'logs', 'nginx', '-c', 'debugger').catch(() => '');
        return text === '' ? undefined : text;
      }),
      page,
    );
  });

  test('containers may be other users of their image', async () => {
    const command = [
      'sh',
      '-c',
      'touch /tmp/f && chown app:staff /tmp/f && su app -c "echo became" && echo done; sleep 100000',
    ];
    await apply(
      run,
      'users',
      pod('users', { containers: [{ name: 'app', image: 'busybox:1', command }] }),
    );
    await isReady(run, 'users');
    assert.equal(
      await until(async () => {
        const text = await kubectl(run, 'logs', 'users');
        return text.includes('done') ? text : undefined;
      }),
      'became\ndone\n',
    );
    const owner = await kubectl(run, 'exec', 'users', '--', 'stat', '-c', '%u:%g', '/tmp/f');
    assert.equal(owner.trim(), run.identity === 'an ordinary user' ? '0:0' : '1000:50');
  });

  test('many pods share the layers of their image', async () => {
    const template = {
      metadata: { labels: { app: 'many' } },
      spec: { containers: [{ name: 'app', image: 'nginx:stable' }] },
    };
    const selector = { matchLabels: { app: 'many' } };
    const kind = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'many' } };
    await apply(
      run,
      'many',
      JSON.stringify({ ...kind, spec: { replicas: 20, selector, template } }),
    );
    await kubectl(run, 'rollout', 'status', 'deployment/many', '--timeout=180s');
    // All images here stand on the layer with busybox.
    assert.equal(unpackedLayers(run).length, 2);
    await kubectl(run, 'delete', 'deployment', 'many');
  });
}

function unpackedLayers({ directory }: Run): readonly string[] {
  const layers = join(directory, '.fairlead', 'images', 'layers');
  return readdirSync(layers).flatMap((form) =>
    readdirSync(join(layers, form)).filter((name) => /^[0-9a-f]{64}$/.test(name)),
  );
}

function deleteEarly(run: Run): void {
  test('status shows a pull that hangs, and its pod goes at once when it is deleted', async () => {
    const registry = run.registry();
    const files = [{ name: 'slow', content: 'slow' }];
    registry.add('slow/app:1', busyboxImage({ files }));
    registry.intercept = ({ url = '' }) => /slow\/app\/blobs/.test(url);
    const container = { name: 'app', image: `${registry.host}/slow/app:1` };
    await apply(run, 'slow', pod('slow', { containers: [container] }));
    await hasEvent(run, 'slow', /^Pulling: Pulling image/);
    await until(async () =>
      /Pulling +127\.0\.0\.1:\d+\/slow\/app:1/.test(await run.up().fairlead('status'))
        ? true
        : undefined,
    );
    await kubectl(run, 'delete', 'pod', 'slow', '--timeout=60s');
    registry.intercept = () => false;
    await apply(
      run,
      'slow',
      pod('slow', { containers: [{ ...container, command: ['sleep', '9'] }] }),
    );
    await isReady(run, 'slow');
    await kubectl(run, 'delete', 'pod', 'slow', '--grace-period=0', '--force');
  });
}

function restartThem(run: Run): void {
  test('after kill -9 the pods run again, and nothing of the old ones is left', async () => {
    const before = run.registry().requests.length;
    await run.restart();
    await isReady(run, 'nginx');
    assert.equal(
      await until(() =>
        kubectl(run, 'exec', 'client', '--', 'wget', '-qO-', 'http://nginx-service').catch(
          () => undefined,
        ),
      ),
      page,
    );
    assert.equal(run.registry().requests.length, before);
    await kubectl(run, 'delete', 'pods', '--all', '--grace-period=1', '--timeout=120s');
    const left = readdirSync(join(run.directory, '.fairlead', 'nodes', 'node-1', 'pods'));
    assert.deepEqual(left, []);
    assert.doesNotMatch(readFileSync('/proc/self/mountinfo', 'utf8'), new RegExp(run.directory));
  });
}

function giveSecrets(run: Run): void {
  test('Secrets for registries are those of the pod, and of its service account', async () => {
    const registry = run.registry();
    const login = Buffer.from('reader:open sesame').toString('base64');
    registry.add('private/app:1', busyboxImage());
    registry.intercept = ({ url = '', headers }, response) => {
      if (!url.startsWith('/v2/private/') || headers.authorization === `Basic ${login}`)
        return false;
      response.writeHead(401, { 'www-authenticate': 'Basic realm="private"' }).end();
      return true;
    };
    const container = {
      ...{ name: 'app', image: `${registry.host}/private/app:1`, imagePullPolicy: 'Always' },
      command: ['sleep', '100000'],
    };
    await apply(run, 'unknown', pod('unknown', { containers: [container] }));
    const { message } = await waitingOf(run, 'unknown', 'ErrImagePull');
    assert.match(message, /^rpc error: code = PermissionDenied desc = .*private\/app:1/);
    await kubectl(
      run,
      ...['create', 'secret', 'docker-registry', 'login', `--docker-server=${registry.host}`],
      ...['--docker-username=reader', '--docker-password=open sesame'],
    );
    const imagePullSecrets = [{ name: 'login' }, { name: 'missing' }];
    await apply(run, 'known', pod('known', { imagePullSecrets, containers: [container] }));
    await isReady(run, 'known');
    await hasEvent(
      run,
      'known',
      /^FailedToRetrieveImagePullSecret: Unable to retrieve some image pull secrets \(missing\); attempting to pull the image may not succeed\.$/,
    );
    await kubectl(
      run,
      ...[
        'patch',
        'serviceaccount',
        'default',
        '-p',
        JSON.stringify({ imagePullSecrets: [{ name: 'login' }] }),
      ],
    );
    await apply(run, 'by-account', pod('by-account', { containers: [container] }));
    await isReady(run, 'by-account');
    await kubectl(run, 'delete', 'pod', 'unknown', '--grace-period=0', '--force');
  });
}

function purgeThem(run: Run): void {
  test('down --purge removes the images and what containers have written', async () => {
    await run.up().fairlead('down', '--purge');
    assert.equal(existsSync(join(run.directory, '.fairlead')), false);
  });
}
