// The file that says how registries are reached. Pure, but for reading the authorities that it names.
import { parse } from 'yaml';
import { goQuote } from '../schema/go-quote.ts';
import { isJsonObject } from '../schema/json-object.ts';
import { isImageError } from './image-error.ts';
import { parseReference } from './parse-reference.ts';
import type { RegistrySetting, RegistrySettings } from './registry-settings.ts';

export class RegistrySettingsError extends Error {
  override readonly name = 'RegistrySettingsError';
}

/** A few registries have a few lines each. */
const maxLength = 2 ** 20;
const maxRegistries = 1000;
const fields = ['mirrors', 'insecure', 'caFile'];

/**
 * YAML or JSON: `registries:` by host or host:port, as in names of images, each with `mirrors`, `insecure` and `caFile`. `readFile` gets the path as it is
 * written and throws where it cannot be read.
 */
export function parseRegistrySettings(
  text: string,
  readFile: (path: string) => string,
): RegistrySettings {
  if (text.length > maxLength) throw fail(`it has more than ${maxLength} characters`);
  const document = parsed(text);
  const registries = isJsonObject(document) ? document.registries : undefined;
  if (!isJsonObject(registries)) throw fail('"registries" must be a map by host');
  const entries = Object.entries(registries);
  if (entries.length > maxRegistries) throw fail(`it has more than ${maxRegistries} registries`);
  return new Map(
    entries.map(([host, value]) => [checkHost(host), settingOf(host, value, readFile)]),
  );
}

const fail = (why: string): RegistrySettingsError => new RegistrySettingsError(why);

function parsed(text: string): unknown {
  try {
    return parse(text);
  } catch (error) {
    throw fail(`it is not YAML: ${(error as Error).message.split('\n')[0]}`);
  }
}

function checkHost(host: string): string {
  try {
    if (parseReference(`${host}/a`).domain === host) return host;
  } catch (error) {
    if (!isImageError(error)) throw error;
  }
  throw fail(`${goQuote(host)} is not a registry, want a host or host:port such as docker.io`);
}

function settingOf(
  host: string,
  value: unknown,
  readFile: (path: string) => string,
): RegistrySetting {
  if (!isJsonObject(value)) throw fail(`the entry for ${goQuote(host)} is not a map`);
  const unknown = Object.keys(value).find((name) => !fields.includes(name));
  if (unknown !== undefined)
    throw fail(`${goQuote(unknown)} of ${goQuote(host)} is not known, want ${fields.join(', ')}`);
  const { mirrors = [], insecure = false, caFile } = value;
  if (!Array.isArray(mirrors) || !mirrors.every(isMirror))
    throw fail(`mirrors of ${goQuote(host)} must be a list of URLs such as https://mirror.example`);
  if (typeof insecure !== 'boolean')
    throw fail(`insecure of ${goQuote(host)} must be true or false`);
  if (caFile !== undefined && typeof caFile !== 'string')
    throw fail(`caFile of ${goQuote(host)} must be a path`);
  return {
    ...{ mirrors, isInsecure: insecure },
    ...(caFile === undefined ? {} : { certificateAuthority: readAuthority(caFile, readFile) }),
  };
}

function isMirror(value: unknown): value is string {
  if (typeof value !== 'string' || !URL.canParse(value)) return false;
  const { protocol, search, hash, username } = new URL(value);
  return /^https?:$/.test(protocol) && search === '' && hash === '' && username === '';
}

function readAuthority(path: string, readFile: (path: string) => string): string {
  let text: string;
  try {
    text = readFile(path);
  } catch (cause) {
    throw new RegistrySettingsError(
      `cannot read caFile ${goQuote(path)}: ${(cause as Error).message}`,
      { cause },
    );
  }
  if (text.includes('-----BEGIN CERTIFICATE-----')) return text;
  throw fail(`caFile ${goQuote(path)} has no certificate in PEM form`);
}
