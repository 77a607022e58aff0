// Parses and validates an audit policy file: a Policy of audit.k8s.io/v1.

import { isJsonObject, type JsonObject } from '../../schema/json-object.ts';
import { parseYaml } from '../../schema/yaml.ts';

const auditLevels = ['None', 'Metadata', 'Request', 'RequestResponse'] as const;
export type AuditLevel = (typeof auditLevels)[number];

const auditStages = ['RequestReceived', 'ResponseStarted', 'ResponseComplete', 'Panic'] as const;
export type AuditStage = (typeof auditStages)[number];

export type AuditRule = {
  readonly level: AuditLevel;
  readonly users: readonly string[];
  readonly userGroups: readonly string[];
  readonly verbs: readonly string[];
  readonly resources: readonly AuditResources[];
  readonly namespaces: readonly string[];
  readonly nonResourceURLs: readonly string[];
  readonly omitStages: readonly AuditStage[];
  /** Absent: as the policy says. */
  readonly omitManagedFields?: boolean;
};

export type AuditResources = {
  readonly group: string;
  readonly resources: readonly string[];
  readonly resourceNames: readonly string[];
};

export type AuditPolicy = {
  readonly rules: readonly AuditRule[];
  readonly omitStages: readonly AuditStage[];
  readonly omitManagedFields: boolean;
};

/** Without a policy file: the metadata of all requests, without bodies. */
export const metadataPolicy: AuditPolicy = {
  rules: [
    {
      level: 'Metadata',
      users: [],
      userGroups: [],
      verbs: [],
      resources: [],
      namespaces: [],
      nonResourceURLs: [],
      omitStages: [],
    },
  ],
  omitStages: ['RequestReceived'],
  omitManagedFields: false,
};

/** The policy is invalid; the message lists all problems. */
export class AuditPolicyError extends Error {
  constructor(path: string, problems: readonly string[]) {
    super(`Cannot use the audit policy "${path}": ${problems.join('; ')}`);
    this.name = 'AuditPolicyError';
  }
}

/** Throws AuditPolicyError. */
export function parseAuditPolicy(text: string, path: string): AuditPolicy {
  const problems: string[] = [];
  const document = readDocument(text, problems);
  const fields = fieldsOf(document, '', policyFields, problems);
  if (problems.length === 0) checkType(fields, problems);
  const rules = listOf(fields.rules, 'rules', problems).map((rule, at) =>
    ruleOf(rule, `rules[${at}]`, problems),
  );
  if (rules.length === 0) problems.push('rules: there must be at least one');
  const policy: AuditPolicy = {
    rules,
    omitStages: choices(fields.omitStages, 'omitStages', auditStages, problems),
    omitManagedFields: flag(fields.omitManagedFields, 'omitManagedFields', problems) ?? false,
  };
  if (problems.length > 0) throw new AuditPolicyError(path, problems);
  return policy;
}

const policyFields = ['apiVersion', 'kind', 'metadata', 'rules', 'omitStages', 'omitManagedFields'];
const ruleFields = [
  'level',
  'users',
  'userGroups',
  'verbs',
  'resources',
  'namespaces',
  'nonResourceURLs',
  'omitStages',
  'omitManagedFields',
];
const resourceFields = ['group', 'resources', 'resourceNames'];

function readDocument(text: string, problems: string[]): unknown {
  const parsed = parseYaml(text);
  if (!('error' in parsed)) return parsed.value;
  problems.push(`not valid YAML: ${parsed.error}`);
  return {};
}

function checkType({ apiVersion, kind }: JsonObject, problems: string[]): void {
  if (apiVersion !== 'audit.k8s.io/v1')
    problems.push(`apiVersion: must be audit.k8s.io/v1, found ${JSON.stringify(apiVersion)}`);
  if (kind !== 'Policy') problems.push(`kind: must be Policy, found ${JSON.stringify(kind)}`);
}

function ruleOf(value: unknown, at: string, problems: string[]): AuditRule {
  const fields = fieldsOf(value, at, ruleFields, problems);
  const [level = 'None'] = choices([fields.level], `${at}.level`, auditLevels, problems);
  const omitManagedFields = flag(fields.omitManagedFields, `${at}.omitManagedFields`, problems);
  const strings = (name: string): readonly string[] =>
    stringsOf(fields[name], `${at}.${name}`, problems);
  const rule: AuditRule = {
    level,
    users: strings('users'),
    userGroups: strings('userGroups'),
    verbs: strings('verbs'),
    resources: listOf(fields.resources, `${at}.resources`, problems).map((one, index) =>
      resourcesOf(one, `${at}.resources[${index}]`, problems),
    ),
    namespaces: strings('namespaces'),
    nonResourceURLs: strings('nonResourceURLs'),
    omitStages: choices(fields.omitStages, `${at}.omitStages`, auditStages, problems),
    ...(omitManagedFields === undefined ? {} : { omitManagedFields }),
  };
  checkTargets(rule, at, problems);
  return rule;
}

function checkTargets(rule: AuditRule, at: string, problems: string[]): void {
  const { nonResourceURLs, resources, namespaces } = rule;
  if (nonResourceURLs.length > 0 && resources.length + namespaces.length > 0)
    problems.push(`${at}: rules cannot apply to both regular resources and non-resource URLs`);
  for (const [index, url] of nonResourceURLs.entries()) {
    const where = `${at}.nonResourceURLs[${index}]`;
    if (url !== '*' && !url.startsWith('/'))
      problems.push(`${where}: non-resource URL rules must begin with a '/' character`);
    if (url.slice(0, -1).includes('*'))
      problems.push(`${where}: non-resource URL wildcards '*' must be the final character`);
  }
}

function resourcesOf(value: unknown, at: string, problems: string[]): AuditResources {
  const fields = fieldsOf(value, at, resourceFields, problems);
  const group = fields.group ?? '';
  if (typeof group !== 'string') problems.push(`${at}.group: must be a text`);
  const found = {
    group: String(group),
    resources: stringsOf(fields.resources, `${at}.resources`, problems),
    resourceNames: stringsOf(fields.resourceNames, `${at}.resourceNames`, problems),
  };
  if (found.group.includes('/')) problems.push(`${at}.group: must not include a version`);
  if (found.resourceNames.length > 0 && found.resources.length === 0)
    problems.push(`${at}.resourceNames: using resourceNames requires at least one resource`);
  return found;
}

function fieldsOf(
  value: unknown,
  at: string,
  known: readonly string[],
  problems: string[],
): JsonObject {
  if (!isJsonObject(value)) {
    problems.push(`${at === '' ? 'the document' : at}: must be an object`);
    return {};
  }
  for (const name of Object.keys(value)) {
    if (!known.includes(name)) problems.push(`${at === '' ? '' : `${at}.`}${name}: unknown field`);
  }
  return value as JsonObject;
}

function listOf(value: unknown, at: string, problems: string[]): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value;
  problems.push(`${at}: must be a list`);
  return [];
}

function stringsOf(value: unknown, at: string, problems: string[]): readonly string[] {
  return listOf(value, at, problems).flatMap((one, index) => {
    if (typeof one === 'string') return [one];
    problems.push(`${at}[${index}]: must be a text`);
    return [];
  });
}

function choices<T extends string>(
  value: unknown,
  at: string,
  known: readonly T[],
  problems: string[],
): readonly T[] {
  return listOf(value, at, problems).flatMap((one) => {
    const found = known.filter((candidate) => candidate === one);
    if (found.length === 0)
      problems.push(`${at}: must be one of ${known.join(', ')}, found ${JSON.stringify(one)}`);
    return found;
  });
}

function flag(value: unknown, at: string, problems: string[]): boolean | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'boolean') return value;
  problems.push(`${at}: must be true or false`);
  return undefined;
}
