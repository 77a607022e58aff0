// What docs/deploy offers: units that systemd takes, manifests that an API server takes, and command lines that the program takes.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createProgram } from '../../../src/cli/main.ts';
import { parseKubeconfig, resolveContext } from '../../../src/client/kubeconfig.ts';
import { allKinds } from '../../../src/kinds/all.ts';
import type { ConfigMap } from '../../../src/kinds/config-map/types.ts';
import type { KubeObject } from '../../../src/meta/object.ts';
import { groupVersion } from '../../../src/meta/object.ts';
import { parseYamlStream } from '../../../src/schema/yaml.ts';
import { silentWorld } from '../../lanes/silent-world.ts';
import { startMemoryServer } from '../harness/memory-server.ts';

const timeout = 60_000;
const units = 'docs/deploy/systemd';
const manifests = 'docs/deploy/kubernetes';

/** Throws what the program would say to it; nothing is done. */
async function parseCommandLine(argv: readonly string[]): Promise<void> {
  let said = '';
  const program = await createProgram({
    ...silentWorld,
    writeError: (text) => (said += text),
  });
  for (const command of program.commands) command.action(() => {});
  try {
    await program.parseAsync([...argv], { from: 'user' });
  } catch (error) {
    assert.fail(`${argv.join(' ')}: ${said || String(error)}`);
  }
}

const unitNames = readdirSync(units);

function setting(unit: string, name: string): string {
  const text = readFileSync(join(units, unit), 'utf8');
  return new RegExp(`^${name}=(.*)$`, 'm').exec(text)?.[1] ?? '';
}

for (const unit of unitNames) {
  test(`${unit} runs a command line that there is`, async () => {
    const [program, ...words] = setting(unit, 'ExecStart').split(' ');
    assert.equal(program, '/usr/bin/fairlead');
    // What is left out is for the administrator's own flags.
    await parseCommandLine(words.filter((word) => !/^\$FAIRLEAD_[A-Z]+_FLAGS$/.test(word)));
    assert.equal(unit, `fairlead-${words[0]}.service`);
    assert.equal(setting(unit, 'EnvironmentFile'), `-/etc/fairlead/${words[0]}.env`);
  });
}

test('a command line that there is not is noticed', async () => {
  await assert.rejects(parseCommandLine(['proxy', '--no-such-flag']), /unknown option/);
  await assert.rejects(parseCommandLine(['proxy', '--proxy-mode', 'magic']), /magic/);
});

const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;

test('systemd takes the units', {
  timeout,
  skip: hasSystemd ? false : 'systemd-analyze is not here',
}, async () => {
  const directory = await mkdtemp(join(tmpdir(), 'fairlead-units-'));
  try {
    const files = await Promise.all(
      unitNames.map(async (unit) => {
        const file = join(directory, unit);
        // The program must be there for it to be content; here it is not installed.
        const text = readFileSync(join(units, unit), 'utf8');
        await writeFile(file, text.replace('/usr/bin/fairlead', process.execPath));
        return file;
      }),
    );
    const checked = spawnSync('systemd-analyze', ['verify', ...files], { encoding: 'utf8' });
    assert.deepEqual([checked.status, checked.stderr], [0, '']);
  } finally {
    await rm(directory, { recursive: true });
  }
});

type Workload = KubeObject & {
  readonly spec: {
    readonly selector: { readonly matchLabels: Readonly<Record<string, string>> };
    readonly template: {
      readonly metadata: { readonly labels: Readonly<Record<string, string>> };
      readonly spec: {
        readonly serviceAccountName?: string;
        readonly containers: readonly { readonly args: readonly string[] }[];
      };
    };
  };
};

function objectsOf(file: string): readonly KubeObject[] {
  return parseYamlStream(readFileSync(join(manifests, file), 'utf8')).map((document) => {
    if ('error' in document) assert.fail(`${file}: ${document.error}`);
    return document.value as KubeObject;
  });
}

const isWorkload = (object: KubeObject): object is Workload =>
  object.kind === 'DaemonSet' || object.kind === 'Deployment';

function pathOf({ apiVersion, kind, metadata }: KubeObject): string | undefined {
  const found = allKinds.find(
    (one) => one.kind === kind && groupVersion(one.group, one.version) === apiVersion,
  );
  if (found === undefined) return undefined;
  const root = found.group === '' ? `/api/${apiVersion}` : `/apis/${apiVersion}`;
  const scope = found.namespaced ? `/namespaces/${metadata.namespace}` : '';
  return `${root}${scope}/${found.plural}`;
}

for (const file of ['proxy.yaml', 'dns.yaml']) {
  test(`an API server takes ${file}, read strictly`, { timeout }, async () => {
    const server = await startMemoryServer();
    const missing: string[] = [];
    try {
      for (const object of [...objectsOf(join('rbac', file)), ...objectsOf(file)]) {
        const path = pathOf(object);
        if (path === undefined) missing.push(object.kind);
        else await server.api.post(`${path}?fieldValidation=Strict`, object);
        if (!isWorkload(object)) continue;
        const { template, selector } = object.spec;
        for (const [name, value] of Object.entries(selector.matchLabels)) {
          assert.equal(template.metadata.labels[name], value);
        }
        // Whatever runs the pods, they are pods.
        const pod = { ...template, metadata: { ...template.metadata, name: 'one' } };
        await server.api.post('/api/v1/namespaces/kube-system/pods?fieldValidation=Strict', pod);
      }
      assert.deepEqual(missing, []);
    } finally {
      await server.stop();
    }
  });

  test(`the containers of ${file} run command lines that there are`, async () => {
    const workloads = objectsOf(file).filter(isWorkload);
    assert.equal(workloads.length, 1);
    for (const { spec } of workloads) {
      for (const { args } of spec.template.spec.containers) await parseCommandLine(args);
    }
  });

  test(`the pods of ${file} act as the account of rbac/${file}`, () => {
    const accounts = objectsOf(join('rbac', file)).filter(({ kind }) => kind === 'ServiceAccount');
    const used = objectsOf(file)
      .filter(isWorkload)
      .map(({ metadata, spec }) => [metadata.namespace, spec.template.spec.serviceAccountName]);
    assert.deepEqual(
      used,
      accounts.map(({ metadata }) => [metadata.namespace, metadata.name]),
    );
  });

  test(`the kubeconfig of ${file} can be used`, () => {
    const maps = objectsOf(file).filter(({ kind }) => kind === 'ConfigMap') as readonly ConfigMap[];
    for (const { data = {} } of maps) {
      const context = resolveContext(parseKubeconfig(data.kubeconfig ?? ''));
      assert.match(context.server, /^https:/);
      assert.deepEqual(context.token, {
        file: '/var/run/secrets/kubernetes.io/serviceaccount/token',
      });
    }
  });
}
