// One container of an image: from the call to its end, by our own means and with crun, in one run.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { containerSecurity } from '../../src/node/pod/container-security.ts';
import { createOciRuntime } from '../../src/node/runtimes/oci/run-runtime.ts';
import { silentLog } from '../../src/observe/log.ts';
import type { Figure } from './figure.ts';
import { median } from './load.ts';

const rounds = 40;

/** A figure of crun's only where crun works: old versions refuse machines with control groups of both versions. */
export async function containerFigures(row: string, directory: string): Promise<readonly Figure[]> {
  if (process.getuid?.() !== 0) return [];
  const layer = join(directory, 'layer');
  for (const name of ['bin', 'etc', 'proc', 'sys', 'dev', 'tmp'])
    mkdirSync(join(layer, name), { recursive: true });
  copyFileSync('/bin/busybox', join(layer, 'bin/busybox'));
  symlinkSync('busybox', join(layer, 'bin/true'));
  const ours = await openOurs(directory, layer);
  const crun = openCrun(directory, layer);
  const times: Record<'ours' | 'crun', number[]> = { ours: [], crun: [] };
  for (let round = 0; round < rounds; round += 1) {
    times.ours.push(await ours(round));
    if (crun !== undefined) times.crun.push(await crun(round));
  }
  const figure = (what: string, values: readonly number[]): Figure => ({
    ...{ row, unit: 'ms', value: median(values), what },
  });
  const what = 'a container of an image, from the call to the end of /bin/true';
  return [
    figure(what, times.ours),
    ...(crun === undefined ? [] : [figure('the same with an overlay and crun', times.crun)]),
  ];
}

async function openOurs(directory: string, layer: string) {
  const runtime = await createOciRuntime({
    ...{ images: {}, directory: join(directory, 'ours'), now: Date.now, log: silentLog },
    version: 'bench',
  });
  const config = { env: [], volumes: [], exposedPorts: [], labels: {}, cmd: ['/bin/true'] };
  const local = {
    ...{ id: 'sha256:bench', names: [], digests: [], sizeBytes: 0, layers: [] },
    ...{ pulledAt: 0, lastUsed: 0, config: { ...config, architecture: 'amd64', os: 'linux' } },
  };
  const pod = { metadata: {}, spec: {} } as Parameters<typeof containerSecurity>[0];
  const users = { users: { users: [], groups: [] } };
  const verdict = containerSecurity(pod, { name: 'app', resources: {} }, users);
  if ('problem' in verdict) throw new Error(verdict.problem);
  const { security } = verdict;
  return async (round: number): Promise<number> => {
    const own = join(directory, 'ours', String(round));
    mkdirSync(own, { recursive: true });
    const begin = performance.now();
    const running = await runtime.startContainer({
      ...{ id: `c${round}`, pod: { uid: 'u', namespace: 'default', name: 'p' }, name: 'app' },
      ...{ image: 'bench', command: [], args: [], variables: {}, mounts: [], security },
      ...{ directory: own, logPath: join(own, 'log'), hasStdin: false, hostname: 'p' },
      rootImage: { local, unpacked: { form: 'trusted', directories: [layer] } },
    });
    await running.ended;
    return performance.now() - begin;
  };
}

type Spec = {
  readonly process: object;
  readonly mounts: readonly { readonly type: string }[];
  readonly linux: { readonly namespaces: readonly { readonly type: string }[] };
};

/** As container runtimes use it: an overlay that is mounted before, and a bundle. Without control groups, as ours. */
function openCrun(directory: string, layer: string) {
  const bundle = join(directory, 'crun');
  mkdirSync(bundle, { recursive: true });
  if (spawnSync('crun', ['spec'], { cwd: bundle }).status !== 0) return undefined;
  const text = readFileSync(join(bundle, 'config.json'), 'utf8');
  const spec = JSON.parse(text) as Spec;
  const run = async (round: number): Promise<number> => {
    const own = join(bundle, String(round));
    for (const name of ['upper', 'work', 'root']) mkdirSync(join(own, name), { recursive: true });
    const begin = performance.now();
    const options = `lowerdir=${layer},upperdir=${own}/upper,workdir=${own}/work`;
    execFileSync('mount', ['-t', 'overlay', 'overlay', '-o', options, join(own, 'root')]);
    writeFileSync(join(own, 'config.json'), JSON.stringify(bundleOf(spec, join(own, 'root'))));
    const args = [
      '--cgroup-manager=disabled',
      'run',
      '--bundle',
      own,
      `bench-${process.pid}-${round}`,
    ];
    const child = spawn('crun', args, { stdio: 'ignore' });
    const [code] = (await once(child, 'exit')) as [number | null];
    const tookMs = performance.now() - begin;
    execFileSync('umount', [join(own, 'root')]);
    if (code !== 0) throw new Error(`crun ended with ${code}`);
    return tookMs;
  };
  return isCrunWorking(bundle, spec, layer) ? run : undefined;
}

const bundleOf = (spec: Spec, path: string): object => ({
  ...spec,
  process: { ...spec.process, terminal: false, args: ['/bin/true'] },
  root: { path, readonly: false },
  mounts: spec.mounts.filter(({ type }) => type !== 'cgroup'),
  linux: {
    ...spec.linux,
    namespaces: spec.linux.namespaces.filter(({ type }) => type !== 'cgroup'),
  },
});

function isCrunWorking(bundle: string, spec: Spec, layer: string): boolean {
  writeFileSync(join(bundle, 'config.json'), JSON.stringify(bundleOf(spec, layer)));
  const args = ['--cgroup-manager=disabled', 'run', '--bundle', bundle, `bench-${process.pid}`];
  return spawnSync('crun', args, { stdio: 'ignore' }).status === 0;
}
