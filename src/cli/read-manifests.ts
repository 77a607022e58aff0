// Reads the objects of manifests: files, folders or standard input, YAML or JSON, one or many in each.
import { readdir, readFile, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { text as readAll } from 'node:stream/consumers';
import type { KubeObject } from '../meta/object.ts';
import { parseYamlStream } from '../schema/yaml.ts';
import { FailedError } from './command.ts';

export type Manifest = {
  /** The file, or STDIN: how errors name it. */
  readonly source: string;
  readonly object: KubeObject;
};

export async function readManifests(
  paths: readonly string[],
  cwd: string,
): Promise<readonly Manifest[]> {
  const manifests: Manifest[] = [];
  for (const path of paths) {
    for (const source of await sourcesOf(path, cwd)) {
      const text =
        source === stdin
          ? await readAll(process.stdin)
          : await readFile(resolve(cwd, source), 'utf8');
      manifests.push(...parseManifests(text, source));
    }
  }
  return manifests;
}

const stdin = 'STDIN';

async function sourcesOf(path: string, cwd: string): Promise<readonly string[]> {
  if (path === '-') return [stdin];
  const absolute = resolve(cwd, path);
  const found = await stat(absolute).catch(() => undefined);
  if (found === undefined) throw new FailedError(`error: the path "${path}" does not exist`);
  if (!found.isDirectory()) return [path];
  const names = await readdir(absolute);
  return names
    .filter((name) => /\.(ya?ml|json)$/.test(name))
    .sort()
    .map((name) => join(path, name));
}

export function parseManifests(text: string, source: string): readonly Manifest[] {
  return parseYamlStream(text).flatMap((parsed) => {
    if ('error' in parsed) throw new FailedError(`error: error parsing ${source}: ${parsed.error}`);
    return flatten(parsed.value, source).map((object) => ({ source, object }));
  });
}

/** A List stands for its items. */
function flatten(value: unknown, source: string): readonly KubeObject[] {
  if (!isFields(value)) throw invalid(source, 'an object is needed');
  const { apiVersion, kind, items, metadata } = value;
  if (typeof apiVersion !== 'string' || apiVersion === '')
    throw invalid(source, 'apiVersion not set');
  if (typeof kind !== 'string' || kind === '') throw invalid(source, 'kind not set');
  if (kind.endsWith('List') && Array.isArray(items))
    return items.flatMap((item) => flatten(item, source));
  return [{ ...value, apiVersion, kind, metadata: isFields(metadata) ? metadata : {} }];
}

function invalid(source: string, why: string): FailedError {
  return new FailedError(`error: error validating "${source}": error validating data: ${why}`);
}

function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
