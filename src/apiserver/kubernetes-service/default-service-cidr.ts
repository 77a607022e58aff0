// The ServiceCIDR that the flags describe: made at the start and whenever it is gone, and given a second family when the
// flags have one. An object that says something else stays as it is, and people are told.
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
  | { readonly action: 'tell'; readonly reason: string; readonly message: string };

/** What to do next about the object, given the ranges of the flags. */
export function nextDefaultCidrStep(
  stored: ServiceCIDR | undefined,
  cidrs: readonly string[],
): DefaultCidrStep {
  if (stored === undefined) return { action: 'create' };
  const own = stored.spec.cidrs ?? [];
  if (cidrs.length === 2 && own.length === 1 && own[0] === cidrs[0]) return { action: 'grow' };
  // Whether it may go is for the controller to say.
  if (stored.metadata.deletionTimestamp !== undefined) return { action: 'none' };
  if (!deepEqual(own, cidrs)) {
    const message = `The default ServiceCIDR ${goList(own)} does not match the controller flag configurations ${goList(cidrs)}`;
    return { action: 'tell', reason: 'KubernetesDefaultServiceCIDRInconsistent', message };
  }
  const ready = stored.status.conditions?.find(({ type }) => type === readyCondition);
  if (ready === undefined || ready.status === 'Unknown') return { action: 'ready' };
  if (ready.status === 'True') return { action: 'none' };
  const message = `Configuration matches, but ${ready.message}`;
  return { action: 'tell', reason: ready.reason, message };
}

/** As Go prints a list of texts. */
const goList = (texts: readonly string[]): string => `[${texts.join(' ')}]`;

/** Enough for create or grow, ready and done, and for losing to another server once. */
const maxSteps = 5;

/** Returns how to bring the object in line, now and later; each server tells once of what it cannot mend. */
export function createDefaultCidrKeeper(
  context: ApiContext,
  serviceCidrs: readonly Cidr[],
): () => Promise<void> {
  const cidrs = serviceCidrs.map(formatCidr);
  const told = new Set<string>();
  return async () => {
    for (let step = 0; step < maxSteps; step += 1) {
      const stored = context.resources.reader.get(resourceName, '', defaultServiceCidr);
      const next = nextDefaultCidrStep(stored as ServiceCIDR | undefined, cidrs);
      if (next.action === 'none') return;
      if (next.action === 'tell') {
        if (stored === undefined || told.has(next.reason)) return;
        told.add(next.reason);
        const { reason, message } = next;
        await recordEvent(context, { object: stored, component, type: 'Warning', reason, message });
        return;
      }
      await carryOut(context, next.action, cidrs);
    }
  };
}

function carryOut(
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
