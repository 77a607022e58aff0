// Checks pods against the Pod Security Standards of their namespace: violations are refused in mode enforce, and reported
// in modes audit and warn; workloads are never refused. Kubernetes: pod-security-admission/admission.

import type { Namespace } from '../../../kinds/namespace/types.ts';
import type { PodSpec } from '../../../kinds/pod/pod-spec.ts';
import type { Pod } from '../../../kinds/pod/types.ts';
import { internal, invalid } from '../../../meta/api-error.ts';
import { errorText } from '../../../meta/field-error.ts';
import type { KubeObject } from '../../../meta/object.ts';
import { groupResource } from '../../../meta/object.ts';
import { deepEqual } from '../../../schema/equality.ts';
import { goQuote } from '../../../schema/go-quote.ts';
import {
  type AdmissionFacts,
  type AdmissionPlugin,
  refused,
  type WriteAdmission,
} from '../admission.ts';
import { containerSeccomp } from './baseline-checks.ts';
import type { AnyContainer, CheckedPod } from './check.ts';
import { warningsAboutPods } from './check-namespace-pods.ts';
import type { PodSecurityConfiguration } from './configuration.ts';
import { detailsText, violationsOf } from './evaluate.ts';
import {
  compareLevels,
  isPrivileged,
  isSame,
  levelLabel,
  modes,
  type Policy,
  policyOf,
  policyText,
  privileged,
  versionLabel,
} from './policy.ts';

export const podSecurity: AdmissionPlugin = {
  name: 'PodSecurity',
  onByDefault: true,
  validate(request, facts) {
    const { group, plural } = request.definition;
    const resource = groupResource(group, plural);
    if (resource === 'namespaces') return validateNamespace(request, facts);
    if (resource === 'pods') return validatePod(request, facts);
    const template = templates[resource];
    return template && validateTemplate(request, facts, template);
  },
};

function validateNamespace(
  request: WriteAdmission,
  facts: AdmissionFacts,
): Promise<void> | undefined {
  if (request.subresource !== '') return undefined;
  const { defaults } = facts.podSecurity;
  const { name, warn } = request;
  const after = policyOf(request.after.metadata.labels, defaults);
  const before = request.before && policyOf(request.before.metadata.labels, defaults);
  // Existing errors do not block other changes.
  if (after.errors.length > 0 && !deepEqual(after.errors, before?.errors))
    throw invalid({ group: '', kind: 'Namespace' }, name, after.errors);
  if (before === undefined) return undefined;
  const { enforce } = after.policy;
  const old = before.policy.enforce;
  if (isSame(enforce, old) || enforce.level === 'privileged') return undefined;
  if (enforce.version === old.version && compareLevels(enforce.level, old.level) < 1)
    return undefined;
  if (facts.podSecurity.exemptions.namespaces.includes(name)) {
    warnExempt(request, after.policy, defaults);
    return undefined;
  }
  const pods = facts.reader.list('pods', name) as readonly Pod[];
  const isExempt = ({ spec }: Pod): boolean => hasExemptRuntime(facts.podSecurity, spec);
  const { clock, pause } = facts;
  const check = { namespace: name, enforce, pods, isExempt, clock, pause };
  return warningsAboutPods(check).then((warnings) => warnings.forEach(warn));
}

function warnExempt({ name, after, warn }: WriteAdmission, policy: Policy, defaults: Policy): void {
  if (isPrivileged(policy) || modes.every((mode) => isSame(policy[mode], defaults[mode]))) return;
  const { labels = {} } = after.metadata;
  const isSet = (label: string): boolean => labels[label] !== undefined;
  const ignored = modes
    .filter((mode) => policy[mode].level !== 'privileged')
    .filter((mode) => isSet(levelLabel(mode)) || isSet(versionLabel(mode)))
    .map((mode) => `${mode}=${policyText(policy[mode])}`);
  warn(
    `namespace ${goQuote(name)} is exempt from Pod Security, and the policy (${ignored.join(', ')}) will be ignored`,
  );
}

/** Subresources of pods without a pod in the body, or without checked fields. */
const ignoredSubresources: ReadonlySet<string> = new Set([
  ...['exec', 'attach', 'binding', 'eviction', 'log', 'portforward', 'proxy', 'status'],
]);

function validatePod(request: WriteAdmission, facts: AdmissionFacts): undefined {
  const { subresource, namespace, before, after } = request;
  if (ignoredSubresources.has(subresource) || isExempt(request, facts.podSecurity)) return;
  const found = facts.reader.get('namespaces', '', namespace) as Namespace | undefined;
  if (found === undefined) throw internal(`failed to lookup namespace ${goQuote(namespace)}`);
  const { policy, errors } = policyOf(found.metadata.labels, facts.podSecurity.defaults);
  if (errors.length === 0 && isPrivileged(policy)) {
    annotate(request, 'enforce-policy', policyText(privileged));
    return;
  }
  const pod = after as Pod;
  if (before !== undefined && !isSignificant(before as Pod, pod)) return;
  evaluate(request, { facts, policy, errors, pod: podOf(pod), enforces: true });
}

/** Undefined: no pod template, nothing to check. */
type Template = (object: KubeObject) => Pick<Pod, 'metadata' | 'spec'> | undefined;

type PodMaker = KubeObject & {
  readonly template?: Pick<Pod, 'metadata' | 'spec'>;
  readonly spec?: PodMaker & { readonly jobTemplate?: PodMaker };
};

const ofTemplate: Template = (object) => (object as PodMaker).spec?.template;

/** Kinds with pod templates, also those that this server does not serve. */
const templates: Readonly<Record<string, Template>> = {
  podtemplates: (object) => (object as PodMaker).template,
  replicationcontrollers: ofTemplate,
  'replicasets.apps': ofTemplate,
  'deployments.apps': ofTemplate,
  'statefulsets.apps': ofTemplate,
  'daemonsets.apps': ofTemplate,
  'jobs.batch': ofTemplate,
  'cronjobs.batch': (object) => (object as PodMaker).spec?.jobTemplate?.spec?.template,
};

function validateTemplate(
  request: WriteAdmission,
  facts: AdmissionFacts,
  template: Template,
): undefined {
  const { subresource, namespace } = request;
  if (subresource !== '' || isExempt(request, facts.podSecurity)) return;
  const found = facts.reader.get('namespaces', '', namespace) as Namespace | undefined;
  if (found === undefined) {
    annotate(request, 'error', `failed to lookup namespace ${goQuote(namespace)}`);
    return;
  }
  const { policy, errors } = policyOf(found.metadata.labels, facts.podSecurity.defaults);
  const { audit, warn } = policy;
  if (errors.length === 0 && audit.level === 'privileged' && warn.level === 'privileged') return;
  const pod = template(request.after);
  if (pod === undefined) return;
  evaluate(request, { facts, policy, errors, pod: podOf(pod), enforces: false });
}

const podOf = ({ metadata, spec }: Pick<Pod, 'metadata' | 'spec'>): CheckedPod => ({
  annotations: metadata.annotations ?? {},
  spec,
});

function isExempt(request: WriteAdmission, { exemptions }: PodSecurityConfiguration): boolean {
  const reason = exemptions.namespaces.includes(request.namespace)
    ? 'namespace'
    : exemptions.usernames.includes(request.user.name)
      ? 'user'
      : undefined;
  if (reason !== undefined) annotate(request, 'exempt', reason);
  return reason !== undefined;
}

function hasExemptRuntime({ exemptions }: PodSecurityConfiguration, spec: PodSpec): boolean {
  const { runtimeClassName = '' } = spec;
  return runtimeClassName !== '' && exemptions.runtimeClasses.includes(runtimeClassName);
}

type Evaluation = {
  readonly facts: AdmissionFacts;
  readonly policy: Policy;
  readonly errors: Parameters<typeof invalid>[2];
  readonly pod: CheckedPod;
  readonly enforces: boolean;
};

function evaluate(
  request: WriteAdmission,
  { facts, policy, errors, pod, enforces }: Evaluation,
): void {
  if (hasExemptRuntime(facts.podSecurity, pod.spec)) {
    annotate(request, 'exempt', 'runtimeClass');
    return;
  }
  if (errors.length > 0) {
    const texts = errors.map(errorText);
    const all = texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`;
    annotate(request, 'error', `Failed to parse policy: ${all}`);
  }
  const { enforce, audit, warn } = policy;
  const refusal = enforces ? detailsText(violationsOf(enforce, pod)) : '';
  if (enforces) annotate(request, 'enforce-policy', policyText(enforce));
  const audited = detailsText(violationsOf(audit, pod));
  if (audited !== '')
    annotate(request, 'audit-violations', wouldViolate(policyText(audit), audited));
  // A refused request gets no warning in addition.
  if (refusal !== '')
    throw refused(request, `violates PodSecurity ${goQuote(policyText(enforce))}: ${refusal}`);
  const warned = detailsText(violationsOf(warn, pod));
  if (warned !== '') request.warn(wouldViolate(policyText(warn), warned));
}

const wouldViolate = (policy: string, details: string): string =>
  `would violate PodSecurity ${goQuote(policy)}: ${details}`;

const annotate = ({ annotate: note }: WriteAdmission, key: string, value: string): void =>
  note(`pod-security.kubernetes.io/${key}`, value);

/** Whether an update changes checked fields: most fields of a pod are immutable. */
function isSignificant(before: Pod, after: Pod): boolean {
  const isChanged = (old: AnyContainer | undefined, container: AnyContainer): boolean => {
    const key = containerSeccomp(container.name);
    const { annotations: was = {} } = before.metadata;
    const { annotations: is = {} } = after.metadata;
    return old === undefined || old.image !== container.image || was[key] !== is[key];
  };
  for (const list of ['containers', 'initContainers'] as const) {
    const old = before.spec[list] ?? [];
    const containers = after.spec[list] ?? [];
    if (old.length !== containers.length) return true;
    if (containers.some((container, at) => isChanged(old[at], container))) return true;
  }
  const known = new Map((before.spec.ephemeralContainers ?? []).map((one) => [one.name, one]));
  return (after.spec.ephemeralContainers ?? []).some((one) => isChanged(known.get(one.name), one));
}
