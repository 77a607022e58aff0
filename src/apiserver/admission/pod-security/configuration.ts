// Reads and validates a PodSecurityConfiguration.
import { dns1123Label, dns1123Subdomain } from '../../../meta/names.ts';
import { fieldsOf, type Problems, stringList, stringOf } from '../read-fields.ts';
import {
  type LevelVersion,
  type Mode,
  type Policy,
  parseLevel,
  parseVersion,
  privilegedPolicy,
  wrongLevel,
  wrongVersion,
} from './policy.ts';

export type PodSecurityConfiguration = {
  /** For namespaces without labels. */
  readonly defaults: Policy;
  readonly exemptions: {
    readonly namespaces: readonly string[];
    readonly usernames: readonly string[];
    readonly runtimeClasses: readonly string[];
  };
};

export const defaultPodSecurity: PodSecurityConfiguration = {
  defaults: privilegedPolicy,
  exemptions: { namespaces: [], usernames: [], runtimeClasses: [] },
};

const group = 'pod-security.admission.config.k8s.io';
const apiVersions = ['v1', 'v1beta1', 'v1alpha1'].map((version) => `${group}/${version}`);

export function readPodSecurity(
  document: unknown,
  where: string,
  problems: Problems,
): PodSecurityConfiguration {
  const known = ['apiVersion', 'kind', 'defaults', 'exemptions'] as const;
  const fields = fieldsOf(document, { where, known, problems });
  if (
    !apiVersions.includes(String(fields.apiVersion)) ||
    fields.kind !== 'PodSecurityConfiguration'
  )
    problems.push(`${where}: must be a PodSecurityConfiguration of ${apiVersions[0]}`);
  return {
    defaults: readDefaults(fields.defaults ?? {}, `${where}.defaults`, problems),
    exemptions: readExemptions(fields.exemptions ?? {}, `${where}.exemptions`, problems),
  };
}

function readDefaults(document: unknown, where: string, problems: Problems): Policy {
  const known = [
    ...(['enforce', 'enforce-version', 'audit', 'audit-version'] as const),
    ...(['warn', 'warn-version'] as const),
  ] as const;
  const fields = fieldsOf(document, { where, known, problems });
  const read = (mode: Mode): LevelVersion => {
    const versionField = `${mode}-version` as const;
    const level = stringOf(fields[mode], `${where}.${mode}`, problems) || 'privileged';
    const version =
      stringOf(fields[versionField], `${where}.${versionField}`, problems) || 'latest';
    const parsedLevel = parseLevel(level);
    const parsedVersion = parseVersion(version);
    if (parsedLevel === undefined) problems.push(`${where}.${mode}: ${wrongLevel}`);
    if (parsedVersion === undefined) problems.push(`${where}.${versionField}: ${wrongVersion}`);
    return { level: parsedLevel ?? 'restricted', version: parsedVersion ?? 'latest' };
  };
  return { enforce: read('enforce'), audit: read('audit'), warn: read('warn') };
}

function readExemptions(
  document: unknown,
  where: string,
  problems: Problems,
): PodSecurityConfiguration['exemptions'] {
  const known = ['namespaces', 'usernames', 'runtimeClasses'] as const;
  const fields = fieldsOf(document, { where, known, problems });
  const read = (field: (typeof known)[number], wrong: (name: string) => readonly string[]) => {
    const names = stringList(fields[field], `${where}.${field}`, problems);
    const seen = new Set<string>();
    for (const [at, name] of names.entries()) {
      const found = [...wrong(name), ...(seen.has(name) ? ['is there twice'] : [])];
      seen.add(name);
      for (const why of found) problems.push(`${where}.${field}[${at}]: "${name}": ${why}`);
    }
    return names;
  };
  return {
    namespaces: read('namespaces', dns1123Label),
    usernames: read('usernames', (name) => (name === '' ? ['must not be empty'] : [])),
    runtimeClasses: read('runtimeClasses', dns1123Subdomain),
  };
}
