// Reads manifests as people have them, for programs that only look: directories with all that is below them, files with other content
// among them, documents that are no objects. What is no manifest is named and left out instead of ending the program.
import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { FailedError, UsageError } from '../../flags/command.ts';
import type { Manifest } from '../../snapshot/manifest.ts';
import type { ManifestProblem } from '../../snapshot/snapshot-of-manifests.ts';
import { isKustomized, kustomizationNames } from './kustomization.ts';
import { explainFileError } from './read-manifests.ts';
import { isNoObject, splitManifests } from './split-manifests.ts';

export type ManifestTree = {
  readonly manifests: readonly Manifest[];
  /** Documents that are no objects. */
  readonly problems: readonly ManifestProblem[];
  /** What was left out, and what to do about it: a sentence each. */
  readonly notes: readonly string[];
};

export type TreeLimits = {
  /** Of one file: a whole cluster as `kubectl get -o yaml` prints it is smaller. */
  readonly maxFileBytes: number;
  /** Of all files together: what fits into memory several times. */
  readonly maxBytes: number;
  readonly maxFiles: number;
};

const defaultLimits: TreeLimits = {
  maxFileBytes: 32 * 1024 * 1024,
  maxBytes: 128 * 1024 * 1024,
  maxFiles: 10_000,
};

/** Deeper ones go around in circles. */
const maxDepth = 32;
/** Of directories that hold programs, not manifests. */
const skippedFolders: ReadonlySet<string> = new Set(['node_modules', 'vendor']);
const isManifestName = (name: string): boolean => /\.(ya?ml|json)$/.test(name);
const stdin = 'STDIN';

export type TreeRequest = {
  /** Files, directories, or `-`. */
  readonly paths: readonly string[];
  readonly cwd: string;
  readonly limits?: TreeLimits;
  /** That reads them, for advice. */
  readonly command?: string;
};

/** Throws UsageError when there is nothing to look at. */
export async function readManifestTree(request: TreeRequest): Promise<ManifestTree> {
  const { paths, cwd, limits = defaultLimits, command = 'doctor' } = request;
  const reader: Reader = { cwd, limits, command, files: 0, bytes: 0, notes: [] };
  const manifests: Manifest[] = [];
  const problems: ManifestProblem[] = [];
  for (const path of new Set(paths)) {
    for (const { source, isNamed } of await sourcesOf(reader, path)) {
      const found = splitManifests(await readSource(reader, source), { source, isNamed });
      manifests.push(...found.manifests);
      problems.push(...found.problems);
      reader.notes.push(...found.notes);
    }
  }
  const isAnything = manifests.length > 0 || problems.some(({ message }) => !isNoObject(message));
  if (isAnything) return { manifests, problems, notes: reader.notes };
  const nothing = `${paths.join(', ')}: there is no Kubernetes object, want one with apiVersion and kind`;
  throw new UsageError(`--filename: ${reader.notes[0] ?? nothing}`);
}

type Reader = {
  readonly cwd: string;
  readonly command: string;
  readonly limits: TreeLimits;
  files: number;
  bytes: number;
  readonly notes: string[];
};

type Source = {
  readonly source: string;
  /** By the user, so that it must be a manifest. */
  readonly isNamed: boolean;
};

async function sourcesOf(reader: Reader, path: string): Promise<readonly Source[]> {
  if (path === '-') return [{ source: stdin, isNamed: true }];
  const found = await orUsage(stat(resolve(reader.cwd, path)), (why, code) =>
    code === 'ENOENT' ? `the path "${path}" does not exist` : `stat ${path}: ${why}`,
  );
  return found.isDirectory() ? folderSources(reader, path, 0) : [{ source: path, isNamed: true }];
}

async function folderSources(
  reader: Reader,
  path: string,
  depth: number,
): Promise<readonly Source[]> {
  if (depth > maxDepth)
    throw new UsageError(`--filename: ${path} is more than ${maxDepth} folders deep`);
  const entries = await orUsage(
    readdir(resolve(reader.cwd, path), { withFileTypes: true }),
    (why) => `open ${path}: ${why}`,
  );
  const names = entries.map(({ name }) => name);
  const note = await noteOn(reader, path, names);
  if (note !== undefined) {
    reader.notes.push(note);
    return [];
  }
  const found: Source[] = [];
  for (const entry of [...entries].sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const { name } = entry;
    const inner = join(path, name);
    if (name.startsWith('.') || kustomizationNames.includes(name)) continue;
    if (!entry.isDirectory()) {
      if (!isManifestName(name)) continue;
      countFile(reader);
      found.push({ source: inner, isNamed: false });
    } else if (!skippedFolders.has(name))
      found.push(...(await folderSources(reader, inner, depth + 1)));
  }
  return found;
}

/** Why the files of the directory do not mean what they say. */
async function noteOn(
  reader: Reader,
  path: string,
  names: readonly string[],
): Promise<string | undefined> {
  if (names.includes('Chart.yaml')) {
    return `${path} is a Helm chart, which has to be rendered: helm template ${path} | fairlead ${reader.command} -f -`;
  }
  const kustomization = kustomizationNames.find((name) => names.includes(name));
  if (kustomization === undefined) return undefined;
  return isKustomized(await readSource(reader, join(path, kustomization)))
    ? `${path} has to be built: kubectl kustomize ${path} | fairlead ${reader.command} -f -`
    : undefined;
}

function countFile(reader: Reader): void {
  reader.files += 1;
  const { maxFiles } = reader.limits;
  if (reader.files > maxFiles)
    throw new UsageError(`--filename: more than ${maxFiles} files, want a smaller directory`);
}

async function readSource(reader: Reader, source: string): Promise<string> {
  const text = await orUsage(readText(reader, source), (why) => `open ${source}: ${why}`);
  // What editors of other systems put before the text.
  return text.startsWith('\uFEFF') ? text.slice(1) : text;
}

async function readText(reader: Reader, source: string): Promise<string> {
  const path = resolve(reader.cwd, source);
  const { maxFileBytes, maxBytes } = reader.limits;
  // Devices have no size and may have no end; pipes are how shells pass the output of programs.
  const isStream = source === stdin || (await stat(path)).isFIFO();
  if (!isStream && !(await stat(path)).isFile()) {
    throw new UsageError(`--filename: ${source} is neither a file nor a directory`);
  }
  const chunks: Buffer[] = [];
  let bytes = 0;
  const stream = source === stdin ? process.stdin : createReadStream(path);
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    reader.bytes += chunk.length;
    if (bytes > (isStream ? maxBytes : maxFileBytes)) {
      const limit = megabytes(isStream ? maxBytes : maxFileBytes);
      throw new UsageError(
        `--filename: ${source} has more than ${limit}, want the manifests of Services and what they select only`,
      );
    }
    if (reader.bytes > maxBytes) {
      throw new UsageError(
        `--filename: the manifests have more than ${megabytes(maxBytes)} together, want fewer`,
      );
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

const megabytes = (bytes: number): string => `${Math.floor(bytes / 1024 / 1024)} MiB`;

/** The words of a file error, as an error of usage. */
async function orUsage<T>(
  work: Promise<T>,
  text: (why: string, code: string) => string,
): Promise<T> {
  try {
    return await explainFileError(work, text);
  } catch (error) {
    if (!(error instanceof FailedError)) throw error;
    throw new UsageError(`--filename: ${error.message.replace(/^error: /, '')}`);
  }
}
