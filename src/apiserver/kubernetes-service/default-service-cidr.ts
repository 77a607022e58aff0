// Reconciles the default ServiceCIDR with the flags: creates it, and adds a second family when the flags have one. An
// object with other ranges stays as it is, and gets a warning event.
// Upstream: pkg/controlplane/controller/defaultservicecidr.
import { type Cidr, formatCidr } from '../../ip/cidr.ts';
import { readyCondition, type ServiceCIDR } from '../../kinds/service-cidr/types.ts';
import type { Condition } from '../../meta/conditions.ts';
import type { KubeObject } from '../../meta/object.ts';
import { deepEqual } from '../../schema/equality.ts';
import { formatTime } from '../../schema/time.ts';
import type { ApiContext } from '../context.ts';
import { ensureObject } from '../objects/ensure-object.ts';
import { recordEvent } from '../objects/record-event.ts';
import { serverWrite } from '../objects/server-write.ts';
import { updateObject } from '../objects/update-object.ts';
import type { BootstrapObject } from './objects.ts';

const defaultServiceCidr = 'kubernetes';
const resourceName = 'servicecidrs.networking.k8s.io';
const component = 'kubernetes-service-cidr-controller';

export type DefaultCidrStep =
  | { readonly action: 'none' | 'create' | 'grow' | 'ready' }
  | { readonly action: 'warn'; readonly reason: string; readonly message: string };

/** What to do next about the object, given the ranges of the flags. */
export function nextDefaultCidrStep(
  stored: ServiceCIDR | undefined,
  cidrs: readonly string[],
): DefaultCidrStep {
  if (stored === undefined) return { action: 'create' };
  const existing = stored.spec.cidrs ?? [];
  if (cidrs.length === 2 && existing.length === 1 && existing[0] === cidrs[0])
    return { action: 'grow' };
  // Its controller decides when its finalizer is removed.
  if (stored.metadata.deletionTimestamp !== undefined) return { action: 'none' };
  if (!deepEqual(existing, cidrs)) {
    const message = `The default ServiceCIDR ${goList(existing)} does not match the controller flag configurations ${goList(cidrs)}`;
    return { action: 'warn', reason: 'KubernetesDefaultServiceCIDRInconsistent', message };
  }
  const ready = stored.status.conditions?.find(({ type }) => type === readyCondition);
  if (ready === undefined || ready.status === 'Unknown') return { action: 'ready' };
  if (ready.status === 'True') return { action: 'none' };
  const message = `Configuration matches, but ${ready.message}`;
  return { action: 'warn', reason: ready.reason, message };
}

/** As Go prints a slice of strings. */
const goList = (texts: readonly string[]): string => `[${texts.join(' ')}]`;

/** Enough for create or grow, ready and done, and for losing to another server once. */
const maxSteps = 5;

/** Returns the reconciler; each server records a warning once. */
export function createDefaultCidrReconciler(
  context: ApiContext,
  serviceCidrs: readonly Cidr[],
): () => Promise<void> {
  const cidrs = serviceCidrs.map(formatCidr);
  const warned = new Set<string>();
  return async () => {
    for (let step = 0; step < maxSteps; step += 1) {
      const stored = context.resources.reader.get(resourceName, '', defaultServiceCidr);
      const next = nextDefaultCidrStep(stored as ServiceCIDR | undefined, cidrs);
      if (next.action === 'none') return;
      if (next.action === 'warn') {
        if (stored === undefined || warned.has(next.reason)) return;
        warned.add(next.reason);
        const { reason, message } = next;
        await recordEvent(context, { object: stored, component, type: 'Warning', reason, message });
        return;
      }
      await applyStep(context, next.action, cidrs);
    }
  };
}

function applyStep(
  context: ApiContext,
  action: 'create' | 'grow' | 'ready',
  cidrs: readonly string[],
): Promise<void> {
  switch (action) {
    case 'create':
      return ensureObject(context, serviceCidrObject(cidrs));
    case 'grow':
      return change(context, '', (live) => ({ ...live, spec: { ...live.spec, cidrs } }));
    case 'ready': {
      const now = formatTime(context.now());
      return change(context, 'status', (live) => withReady(live, now));
    }
  }
}

function serviceCidrObject(cidrs: readonly string[]): BootstrapObject {
  const body = { metadata: { name: defaultServiceCidr }, spec: { cidrs } };
  return { resource: resourceName, namespace: '', body };
}

function withReady(live: ServiceCIDR, now: string): ServiceCIDR {
  const others = (live.status.conditions ?? []).filter(({ type }) => type !== readyCondition);
  const ready: Condition = {
    type: readyCondition,
    status: 'True',
    lastTransitionTime: now,
    reason: '',
    message: 'Kubernetes default Service CIDR is ready',
  };
  return { ...live, status: { ...live.status, conditions: [...others, ready] } };
}

async function change(
  context: ApiContext,
  subresource: '' | 'status',
  desired: (live: ServiceCIDR) => ServiceCIDR,
): Promise<void> {
  const resource = context.resources.of(resourceName);
  const { update, subresources } = resource.definition;
  const rules =
    subresource === '' ? update : subresources?.find(({ name }) => name === subresource)?.rules;
  if (rules === undefined) throw new Error(`Cannot write ${resourceName}/${subresource}: no rules`);
  await updateObject(context, {
    resource,
    namespace: '',
    name: defaultServiceCidr,
    subresource,
    rules,
    desired: (live) => desired(live as ServiceCIDR) as KubeObject,
    needsVersion: false,
    checksUid: false,
    write: serverWrite(context),
  });
}
