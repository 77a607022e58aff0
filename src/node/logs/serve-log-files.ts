// /logs/: log files, as the kubelet serves /var/log. Only logs of pods are served, not those of the machine.
import { createReadStream, type Dirent } from 'node:fs';
import { lstat, opendir } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';

/** The directory of pod logs below /logs/, as below /var/log of other nodes. */
const podsName = 'pods';
/** More names than the containers of a node have. */
const maxNames = 20_000;

/** `path` is that of the request. Only the agent writes to `directory`. */
export async function serveLogFiles(
  directory: string,
  path: string,
  response: ServerResponse,
): Promise<void> {
  const names = namesOf(path);
  if (names === undefined) return notFound(response);
  if (names.length === 0) return sendList(response, [`${podsName}/`]);
  const [top, ...below] = names;
  const found = join(directory, ...below);
  const stat = await lstat(found).catch(ignoreMissing);
  if (top !== podsName || stat === undefined) return notFound(response);
  if (stat.isFile() && !path.endsWith('/')) return sendFile(response, found);
  if (!stat.isDirectory()) return notFound(response);
  if (path.endsWith('/')) return sendList(response, await entriesOf(found));
  // A trailing slash makes the relative links of the list work.
  response.writeHead(301, { location: `${encodeURIComponent(names.at(-1) ?? '')}/` });
  response.end();
}

/** The path segments after `logs`; undefined if one is invalid, such as `..`. */
function namesOf(path: string): readonly string[] | undefined {
  try {
    const [, ...names] = path.split('/').filter(Boolean).map(decodeURIComponent);
    return names.some((name) => /[/\0]|^\.\.?$/.test(name)) ? undefined : names;
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}

async function entriesOf(directory: string): Promise<readonly string[]> {
  const names: string[] = [];
  for await (const entry of await opendir(directory)) {
    if (names.length === maxNames) break;
    names.push(nameOf(entry));
  }
  return names.sort();
}

const nameOf = (entry: Dirent): string => (entry.isDirectory() ? `${entry.name}/` : entry.name);

function sendList(response: ServerResponse, names: readonly string[]): void {
  const lines = names.map((name) => {
    const target = name.split('/').map(encodeURIComponent).join('/');
    return `<a href="${target}">${escaped(name)}</a>\n`;
  });
  response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
  response.end(`<!doctype html>\n<pre>\n${lines.join('')}</pre>\n`);
}

const escaped = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

/** A file may be truncated while it is sent. */
async function sendFile(response: ServerResponse, path: string): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8' });
  try {
    await pipeline(createReadStream(path), response);
  } catch (error) {
    // The client has disconnected, or the log was removed with its pod.
    if (!['ERR_STREAM_PREMATURE_CLOSE', 'ENOENT'].includes(codeOf(error))) throw error;
    response.destroy();
  }
}

function notFound(response: ServerResponse): void {
  response.writeHead(404, { 'content-type': 'text/plain; charset=utf-8' });
  response.end('404 page not found\n');
}

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? '';

function ignoreMissing(error: unknown): undefined {
  if (!['ENOENT', 'ENOTDIR', 'ENAMETOOLONG'].includes(codeOf(error))) throw error;
}
