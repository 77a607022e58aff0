// Reads kube-proxy's configuration file (KubeProxyConfiguration).
import { parse } from 'yaml';
import type { ConntrackSettings, ListenAddress, ProxySettings } from '../proxy/config.ts';
import { allModes } from '../proxy/modes/all.ts';
import type { ModeDescription, ModeField } from '../proxy/modes/mode.ts';
import { type LocalMode, localModes } from '../proxy/node-view/local-traffic.ts';
import { isJsonObject } from '../schema/json-object.ts';
import { UsageError } from './command.ts';
import { listenAddress } from './metrics-flags.ts';
import { duration } from './parse-values.ts';

export type ProxyFile = {
  readonly settings: ProxySettings;
  readonly kubeconfig?: string;
  /** Fields without an effect here. */
  readonly ignored: readonly string[];
};

/** Unsupported fields are ignored, and returned by name. */
export function readProxyFile(
  text: string,
  modes: readonly ModeDescription[] = allModes,
): ProxyFile {
  const root = fieldsOf(parseText(text), '');
  if (root.text('kind') !== 'KubeProxyConfiguration') {
    throw new UsageError('the file is not a KubeProxyConfiguration of kubeproxy.config.k8s.io');
  }
  root.text('apiVersion');
  const kubeconfig = root.section('clientConnection').text('kubeconfig');
  const names = modes.map(({ name }) => name);
  const mode = root.oneOf('mode', names);
  const settings = {
    ...plainSettings(root),
    ...given('mode', mode),
    ...modeSections(root, modes, mode ?? names[0]),
    conntrack: conntrackSettings(root.section('conntrack')),
  };
  return { settings, ...given('kubeconfig', kubeconfig), ignored: root.unread() };
}

function plainSettings(root: Fields): ProxySettings {
  const local = root.section('detectLocal');
  const clusterCIDRs = root.text('clusterCIDR')?.split(',') ?? local.texts('clusterCIDRs');
  return {
    ...given('nodeName', root.text('hostnameOverride')),
    ...given('bindAddress', root.text('bindAddress')),
    ...given('healthz', root.listen('healthzBindAddress')),
    ...given('metrics', root.listen('metricsBindAddress')),
    ...given('clusterCIDRs', clusterCIDRs),
    ...given('detectLocalMode', root.oneOf<LocalMode>('detectLocalMode', localModes)),
    ...given('bridgeInterface', local.text('bridgeInterface')),
    ...given('interfaceNamePrefix', local.text('interfaceNamePrefix')),
    ...given('nodePortAddresses', root.texts('nodePortAddresses')),
    ...given('allowsExternalIPs', root.section('featureGates').flag('AllowServiceExternalIPs')),
  };
}

/** Masquerading and sync periods come from the section of the mode in use, other settings from all sections. A period of 0 means the default. */
function modeSections(
  root: Fields,
  modes: readonly ModeDescription[],
  mode: string | undefined,
): ProxySettings {
  const common = (name: string): ProxySettings => {
    const section = root.section(name);
    return {
      ...given('masqueradeAll', section.flag('masqueradeAll')),
      ...given('masqueradeBit', section.number('masqueradeBit')),
      ...given('minSyncPeriodMs', section.time('minSyncPeriod') || undefined),
      ...given('syncPeriodMs', section.time('syncPeriod') || undefined),
    };
  };
  const inUse: ProxySettings[] = [];
  const modeSettings: Record<string, string> = {};
  for (const { name, configuration } of modes) {
    const sections = configuration.sections.map(common);
    if (name === mode) inUse.push(...sections);
    for (const field of configuration.fields ?? []) {
      const value = fieldText(root.section(name), field);
      if (value !== undefined) modeSettings[field.flag] = value;
    }
  }
  return Object.assign({}, ...inUse, { modeSettings });
}

function fieldText(section: Fields, { name, type }: ModeField): string | undefined {
  switch (type) {
    case 'text':
      return section.text(name);
    case 'list':
      return section.texts(name)?.join(',');
    case 'boolean':
      return section.flag(name)?.toString();
  }
}

function conntrackSettings(section: Fields): Partial<ConntrackSettings> {
  return {
    ...given('maxPerCore', section.number('maxPerCore')),
    ...given('min', section.number('min')),
    ...given('tcpEstablishedTimeoutMs', section.time('tcpEstablishedTimeout')),
    ...given('tcpCloseWaitTimeoutMs', section.time('tcpCloseWaitTimeout')),
    ...given('udpTimeoutMs', section.time('udpTimeout')),
    ...given('udpStreamTimeoutMs', section.time('udpStreamTimeout')),
    ...given('tcpBeLiberal', section.flag('tcpBeLiberal')),
  };
}

function given<K extends string, V>(key: K, value: V | undefined): { readonly [P in K]?: V } {
  return (value === undefined ? {} : { [key]: value }) as { readonly [P in K]?: V };
}

function parseText(text: string): unknown {
  try {
    return parse(text);
  } catch (error) {
    throw new UsageError(`the file is not valid YAML: ${(error as Error).message}`);
  }
}

/** Typed access to a mapping, which records the fields that were read. Null and empty strings count as absent, as in Go. */
type Fields = {
  readonly text: (name: string) => string | undefined;
  readonly texts: (name: string) => readonly string[] | undefined;
  readonly number: (name: string) => number | undefined;
  readonly flag: (name: string) => boolean | undefined;
  readonly time: (name: string) => number | undefined;
  readonly listen: (name: string) => ListenAddress | 'none' | undefined;
  readonly oneOf: <T extends string>(name: string, known: readonly T[]) => T | undefined;
  readonly section: (name: string) => Fields;
  readonly unread: () => readonly string[];
};

function fieldsOf(value: unknown, path: string): Fields {
  if (!isJsonObject(value)) {
    throw new UsageError(`${path === '' ? 'the file' : path.slice(0, -1)} is not a mapping`);
  }
  const fields = value as Readonly<Record<string, unknown>>;
  const read = new Map<string, Fields | undefined>();
  const take = (name: string): unknown => {
    read.set(name, read.get(name));
    const found = fields[name];
    return found === null || found === '' ? undefined : found;
  };
  const typed = <T>(name: string, isType: (v: unknown) => v is T, what: string): T | undefined => {
    const found = take(name);
    if (found === undefined || isType(found)) return found;
    throw new UsageError(`${path}${name} must be ${what}`);
  };
  const text = (name: string): string | undefined => typed(name, isText, 'a text');
  const parsed = <T>(name: string, parseValue: (text: string) => T): T | undefined => {
    const found = text(name);
    try {
      return found === undefined ? undefined : parseValue(found);
    } catch (error) {
      throw new UsageError(`${path}${name}: ${(error as Error).message}`);
    }
  };
  return {
    text,
    texts: (name) => typed(name, isTexts, 'a list of texts'),
    number: (name) => typed(name, isNumber, 'a number'),
    flag: (name) => typed(name, isFlag, 'true or false'),
    time: (name) => parsed(name, duration()),
    listen: (name) => parsed(name, (found) => listenAddress(found) ?? 'none'),
    oneOf: (name, known) =>
      parsed(name, (found) => {
        const match = known.find((one) => one === found);
        if (match !== undefined) return match;
        throw new UsageError(`"${found}" must be one of ${known.join(', ')}`);
      }),
    section(name) {
      const inner = read.get(name) ?? fieldsOf(take(name) ?? {}, `${path}${name}.`);
      read.set(name, inner);
      return inner;
    },
    unread: () =>
      Object.keys(fields).flatMap((name) =>
        read.has(name) ? (read.get(name)?.unread() ?? []) : [`${path}${name}`],
      ),
  };
}

const isText = (value: unknown): value is string => typeof value === 'string';
const isNumber = (value: unknown): value is number => typeof value === 'number';
const isFlag = (value: unknown): value is boolean => typeof value === 'boolean';
const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every(isText);
