// Reads objects from manifests: files, directories or standard input, YAML or JSON, one or several per file.
import { readdir, readFile, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { text as readAll } from 'node:stream/consumers';
import { FailedError } from '../../flags/command.ts';
import type { KubeObject } from '../../meta/object.ts';
import { isJsonObject } from '../../schema/json-object.ts';
import { parseYamlStream } from '../../schema/yaml.ts';
import type { Manifest } from '../../snapshot/manifest.ts';

export async function readManifests(
  paths: readonly string[],
  cwd: string,
): Promise<readonly Manifest[]> {
  const manifests: Manifest[] = [];
  for (const path of paths) {
    for (const source of await manifestSources(path, cwd)) {
      const text =
        source === stdin
          ? await readAll(process.stdin)
          : await explainFileError(
              readFile(resolve(cwd, source), 'utf8'),
              (why) => `open ${source}: ${why}`,
            );
      manifests.push(...parseManifests(text, source));
    }
  }
  return manifests;
}

const stdin = 'STDIN';

/** As kubectl: of a directory its own files, and none of those below it. */
export async function manifestSources(path: string, cwd: string): Promise<readonly string[]> {
  if (path === '-') return [stdin];
  const absolute = resolve(cwd, path);
  const found = await explainFileError(stat(absolute), (why, code) =>
    code === 'ENOENT'
      ? `the path "${path}" does not exist`
      : `the path "${path}" cannot be accessed: stat ${path}: ${why}`,
  );
  if (!found.isDirectory()) return [path];
  const entries = await explainFileError(
    readdir(absolute, { withFileTypes: true }),
    (why) => `open ${path}: ${why}`,
  );
  return entries
    .filter((entry) => !entry.isDirectory() && /\.(ya?ml|json)$/.test(entry.name))
    .map(({ name }) => join(path, name))
    .sort();
}

/** Throws file errors with kubectl's messages. */
export async function explainFileError<T>(
  work: Promise<T>,
  text: (why: string, code: string) => string,
): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw new FailedError(`error: ${text(reasons[code] ?? code, code)}`, { cause: error });
  }
}

/** Go's texts of errno values. */
const reasons: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EISDIR: 'is a directory',
  ELOOP: 'too many levels of symbolic links',
  ENAMETOOLONG: 'file name too long',
  ENOENT: 'no such file or directory',
  ENOTDIR: 'not a directory',
};

export function parseManifests(text: string, source: string): readonly Manifest[] {
  return parseYamlStream(text).flatMap((parsed) => {
    if ('error' in parsed) throw new FailedError(`error: error parsing ${source}: ${parsed.error}`);
    const { line, duplicates } = parsed;
    return flatten(parsed.value, source).map((object) => ({ source, line, object, duplicates }));
  });
}

/** Replaces a List by its items. */
function flatten(value: unknown, source: string): readonly KubeObject[] {
  if (!isJsonObject(value)) throw invalid(source, 'an object is needed');
  const { apiVersion, kind, items, metadata } = value;
  if (typeof apiVersion !== 'string' || apiVersion === '')
    throw invalid(source, 'apiVersion not set');
  if (typeof kind !== 'string' || kind === '') throw invalid(source, 'kind not set');
  if (kind.endsWith('List') && Array.isArray(items))
    return items.flatMap((item) => flatten(item, source));
  return [{ ...value, apiVersion, kind, metadata: isJsonObject(metadata) ? metadata : {} }];
}

function invalid(source: string, why: string): FailedError {
  return new FailedError(`error: error validating "${source}": error validating data: ${why}`);
}
