// The image map: commands, root directories and variables by image name.
import { parse } from 'yaml';
import { isJsonObject } from '../../../schema/json-object.ts';
import type { Variables } from '../../environment/service-variables.ts';

export type MappedImage = {
  readonly command?: readonly string[];
  /** Root directory of the container; absent: the host's. */
  readonly root?: string;
  readonly workingDir?: string;
  readonly variables?: Variables;
};

export type ImageMap = Readonly<Record<string, MappedImage>>;

/** The image for containers that have a command of their own. */
export const processImage = 'process';

export class ImageMapError extends Error {
  override readonly name = 'ImageMapError';
}

/** YAML or JSON: `images:` by name, each with `command`, `root`, `workingDir`, `env`. */
export function parseImageMap(text: string): ImageMap {
  const document: unknown = parse(text);
  const images = field(document, 'images') ?? {};
  if (!isJsonObject(images))
    throw new ImageMapError('Cannot read the image map: "images" must be a map of names');
  return Object.fromEntries(
    Object.entries(images).map(([name, entry]) => [name, image(name, entry)]),
  );
}

/** Looks up the full name, then without digest and tag. */
export function mappedImage(map: ImageMap, name: string): MappedImage | undefined {
  const bare = withoutTag(name.split('@', 1)[0] ?? '');
  return [name, bare].flatMap((key) => (Object.hasOwn(map, key) ? [map[key]] : []))[0];
}

/** A colon before the last slash belongs to the registry. */
function withoutTag(name: string): string {
  const colon = name.lastIndexOf(':');
  return colon > name.lastIndexOf('/') ? name.slice(0, colon) : name;
}

function image(name: string, entry: unknown): MappedImage {
  const wrong = (what: string): ImageMapError =>
    new ImageMapError(`Cannot read the image map: "${what}" of image "${name}" is invalid`);
  if (!isJsonObject(entry)) throw wrong('the entry');
  const command = entry.command;
  const isWords = Array.isArray(command) && command.every((word) => typeof word === 'string');
  if (command !== undefined && !isWords) throw wrong('command');
  const env = entry.env ?? {};
  if (!isJsonObject(env)) throw wrong('env');
  const { root, workingDir } = entry;
  if (root !== undefined && (typeof root !== 'string' || !root.startsWith('/')))
    throw wrong('root');
  if (workingDir !== undefined && typeof workingDir !== 'string') throw wrong('workingDir');
  return {
    ...(isWords ? { command } : {}),
    ...(root === undefined ? {} : { root }),
    ...(workingDir === undefined ? {} : { workingDir }),
    variables: Object.fromEntries(Object.entries(env).map(([key, value]) => [key, String(value)])),
  };
}

const field = (value: unknown, name: string): unknown =>
  isJsonObject(value) ? value[name] : undefined;
