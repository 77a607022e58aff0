// Pods of container images that are there: a new pod to its first answer, 100 pods of one image, and one container beside what crun needs for it.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as passed } from 'node:timers/promises';
import type { Deployment } from '../../src/kinds/deployment/types.ts';
import {
  type BuiltImage,
  buildImage,
  busyboxImage,
  busyboxMissing,
  layerOf,
} from '../parts/harness/images/build-image.ts';
import { serveRegistry } from '../parts/harness/images/serve-registry.ts';
import type { TarEntry } from '../parts/harness/images/tar-writer.ts';
import { type Binary, startBinary } from './binary.ts';
import { containerFigures } from './container-starts.ts';
import type { Figure } from './figure.ts';
import { type Call, callOf, firstAnswers, openCaller } from './first-answers.ts';
import { cpuMicros, largestProcess } from './process-stats.ts';
import type { RowOptions } from './row.ts';

const row = 'images';
const many = 100;
const deployments = '/apis/apps/v1/namespaces/default/deployments';

export async function imagesRow({ directory }: RowOptions): Promise<readonly Figure[]> {
  const missing = busyboxMissing();
  if (missing !== undefined) {
    process.stderr.write(`images: ${missing}, left out\n`);
    return [];
  }
  const registry = await serveRegistry();
  registry.add('bench/httpd:1', busyboxImage());
  registry.add('bench/node:1', nodeImage());
  const binary = await startBinary({
    ...{ command: 'up', directory },
    flags: ['--network', 'isolated', '--nodes', '2'],
  });
  try {
    const caller = openCaller(binary.target);
    const call = callOf(caller);
    const httpd = {
      image: `${registry.host}/bench/httpd:1`,
      command: ['sh', '-c', 'echo hello > /tmp/index.html; exec httpd -f -p 8080 -h /tmp'],
    };
    const node = { image: `${registry.host}/bench/node:1` };
    await pullOnBoth(call, [httpd.image, node.image]);
    return [
      ...(await firstAnswers(caller, {
        row,
        what: 'httpd of busybox, its image is there',
        container: httpd,
      })),
      ...(await firstAnswers(caller, {
        row,
        what: 'Node.js, its image is there',
        container: node,
      })),
      ...(await manyPods(call, httpd, binary, directory)),
      ...(await containerFigures(row, join(directory, 'containers'))),
    ];
  } finally {
    await binary.stop();
    await registry.stop();
  }
}

const server = "require('http').createServer((q, a) => a.end('hello')).listen(8080, '0.0.0.0')";

/** This machine's Node.js with the libraries that it needs. */
function nodeImage(): BuiltImage {
  const program = process.execPath;
  const libraries = execFileSync('ldd', [program], { encoding: 'utf8' }).match(/\/\S+/g) ?? [];
  const files = [program, ...new Set(libraries)].map(
    (path): TarEntry => ({ name: path.slice(1), content: readFileSync(path), mode: 0o755 }),
  );
  return buildImage({
    layers: [layerOf(files, 'plain')],
    config: { Entrypoint: [program, '-e'], Cmd: [server] },
  });
}

/** Both nodes know the images before anything is measured. */
async function pullOnBoth(call: Call, images: readonly string[]): Promise<void> {
  const containers = images.map((image, index) => ({
    ...{ name: `c${index}`, image },
    ...(index === 0 ? { command: ['sleep', '1'] } : { args: ['0'] }),
  }));
  for (const nodeName of ['node-1', 'node-2']) {
    const name = `pulls-${nodeName}`;
    const path = '/api/v1/namespaces/default/pods';
    await call('POST', path, {
      metadata: { name },
      spec: { nodeName, restartPolicy: 'Never', containers },
    });
    type Phase = { readonly status: { readonly phase?: string } };
    while ((await call<Phase>('GET', `${path}/${name}`)).status.phase !== 'Succeeded')
      await passed(50);
    await call('DELETE', `${path}/${name}`);
  }
}

async function manyPods(
  call: Call,
  container: object,
  { pid }: Binary,
  directory: string,
): Promise<readonly Figure[]> {
  const begin = performance.now();
  const cpu = (): number => cpuMicros(largestProcess(pid));
  const before = cpu();
  await call('POST', deployments, {
    metadata: { name: 'many' },
    spec: {
      replicas: many,
      selector: { matchLabels: { app: 'many' } },
      template: {
        metadata: { labels: { app: 'many' } },
        spec: { containers: [{ name: 'app', ...container }] },
      },
    },
  });
  for (let available = 0; available < many; await passed(50)) {
    const { status } = await call<Deployment>('GET', `${deployments}/many`);
    available = status?.availableReplicas ?? 0;
  }
  const tookMs = performance.now() - begin;
  const layers = join(directory, 'data', 'images', 'layers');
  const unpacked = readdirSync(layers).flatMap((form) =>
    readdirSync(join(layers, form)).filter((name) => /^[0-9a-f]{64}$/.test(name)),
  );
  return [
    {
      ...{ row, unit: 's', value: tookMs / 1000, cpuMicros: (cpu() - before) / many },
      what: `${many} pods of one image on one machine, created to all available (2 nodes; ${unpacked.length} layers unpacked, of two images)`,
    },
  ];
}
