// One Service's balancer: made to fit, taken away, looked for.
import type { Clock } from '../../../host/clock.ts';
import type { Service } from '../../../kinds/service/types.ts';
import { type BalancerRequest, type Owner, UnmetRequestError } from '../../provider.ts';
import type { AwsCalls, Sdk } from './apply-sdk.ts';
import type { Found } from './balancer.ts';
import type { Change } from './changes.ts';
import { desired, desiredNodeRules } from './desired.ts';
import { diff, diffNothing } from './diff.ts';
import { type Instance, nodeGroupIds, targetInstanceIds } from './instances.ts';
import { balancerName, clusterTag, ownershipTags, targetGroupPrefix } from './names.ts';
import type { AwsOptions } from './options.ts';
import { createFoundProbe, type FoundProbe } from './probe-found.ts';
import { probeGroups } from './probe-groups.ts';
import { probeInstances, type Surroundings } from './probe-surroundings.ts';
import { type Request, readRequest } from './request.ts';
import { balancerOfRule, type Rule } from './rules.ts';
import { converge } from './run-converge.ts';
import type { Listing } from './run-listings.ts';
import { fitNodeRules, sharedRulesKey } from './run-node-rules.ts';
import type { Settling } from './run-settling.ts';
import { choosePlacement, chooseSubnets } from './subnets.ts';
import { findSuccessors } from './successors.ts';

export type Context = {
  readonly cluster: string;
  readonly options: AwsOptions;
  readonly clock: Clock;
  readonly sdk: Sdk;
  readonly settling: Settling;
  /** One piece of work on shared rules at a time. */
  readonly alone: <T>(act: () => Promise<T>) => Promise<T>;
  readonly services: () => Iterable<Service>;
  readonly targetGroupNames: Listing<readonly string[]>;
  readonly nodeGroupIds: Listing<readonly string[]>;
  readonly surroundings: Listing<Surroundings>;
};

/** Subnets and groups of nodes change when people change them. */
const maxAgeMs = 60_000;

/** Returns the name under which the balancer is reached. */
export async function ensureBalancer(
  context: Context,
  { service, nodes }: BalancerRequest,
  signal: AbortSignal,
): Promise<string> {
  const request = readRequest(service);
  const { owner, name, settings } = request;
  await context.settling.waitFor(name, signal);
  const aws = context.sdk.calls(signal);
  const surroundings = await context.surroundings(context.clock.now() - maxAgeMs);
  const placement = choosePlacement({
    ...surroundings,
    cluster: context.cluster,
    isInternal: settings.isInternal,
  });
  const ids = targetInstanceIds(nodes, settings.targetNodeLabels);
  const instances = await probeInstances(aws, ids);
  const groupIds = await groupIdsOf(context, aws, instances);
  const { cluster } = context;
  const wanted = desired({ cluster, request, placement, instances });
  const probe = await openProbe(context, { aws, owner, request, wanted: wantedNames(wanted) });
  const work: Work = { context, aws, name, signal };
  await convergeFor(work, name, async () => diff(wanted, await probe.probe()));
  const found = probe.last();
  const ownGroup = wanted.group === undefined ? undefined : found.group?.id;
  const rules = desiredNodeRules(request, placement, ownGroup);
  await fitRules(work, { wanted: rules, groupIds, surroundings });
  if (wanted.group === undefined) await dropGroup(work, probe);
  context.settling.confirmed(name);
  return (settings.kind === 'classic' ? found.classic : found.network)?.hostname ?? '';
}

export async function removeBalancer(
  context: Context,
  owner: Owner,
  signal: AbortSignal,
): Promise<void> {
  const name = balancerName(owner.uid);
  await context.settling.waitFor(name, signal);
  const aws = context.sdk.calls(signal);
  const surroundings = await context.surroundings(context.clock.now() - maxAgeMs);
  const probe = await openProbe(context, { aws, owner, wanted: [] });
  const work: Work = { context, aws, name, signal };
  await convergeFor(work, name, async () => diffNothing(name, await probe.probe()));
  await fitRules(work, { wanted: [], groupIds: [], surroundings });
  await dropGroup(work, probe);
  context.settling.forget(name);
}

export async function hasBalancer(
  context: Context,
  owner: Owner,
  signal: AbortSignal,
): Promise<boolean> {
  const name = balancerName(owner.uid);
  await context.settling.waitFor(name, signal);
  const aws = context.sdk.calls(signal);
  const probe = await openProbe(context, { aws, owner, wanted: [] });
  const { classic, network, group, targetGroups } = await probe.probe();
  const names = [classic, network, group, ...targetGroups];
  if (names.some((name) => name !== undefined)) return true;
  const groups = await probeGroups(aws, await candidateGroups(context, []));
  return groups.some(({ rules }) => rules.some((rule) => balancerOfRule(rule) === name));
}

type ProbeRequest = {
  readonly aws: AwsCalls;
  readonly owner: Owner;
  /** Absent when nothing is wanted. */
  readonly request?: Request;
  /** Names of target groups. */
  readonly wanted: readonly string[];
};

async function openProbe(
  context: Context,
  { aws, owner, request, wanted }: ProbeRequest,
): Promise<FoundProbe> {
  const { cluster, settling } = context;
  const name = balancerName(owner.uid);
  const prefix = targetGroupPrefix(cluster, owner);
  const all = settling.isUnsure(name)
    ? await context.targetGroupNames(settling.settledAt(name))
    : [];
  const left = all.filter((one) => one.startsWith(prefix));
  const tags = ownershipTags(cluster, owner);
  const kind = request?.settings.kind;
  return createFoundProbe(
    {
      ...{ aws, name, tags, targetGroups: [...new Set([...wanted, ...left])] },
      ...(kind === undefined ? {} : { kind }),
    },
    (what) => {
      if (request === undefined) return;
      throw new UnmetRequestError(
        `There is ${what} without the tags of this Service; it must be removed first`,
        'NameTaken',
      );
    },
  );
}

function wantedNames({ balancer }: ReturnType<typeof desired>): readonly string[] {
  if (balancer.kind === 'classic') return [];
  return balancer.listeners.map(({ targetGroup }) => targetGroup.name);
}

type Work = {
  readonly context: Context;
  readonly aws: AwsCalls;
  readonly name: string;
  readonly signal: AbortSignal;
};

function convergeFor(
  { context, aws, signal }: Work,
  key: string,
  plan: () => Promise<readonly Change[]>,
): Promise<void> {
  const { clock, settling, options } = context;
  return converge({ aws, clock, settling, settleMs: options.settleMs, key, plan, signal });
}

type RulesRequest = {
  readonly wanted: readonly Rule[];
  readonly groupIds: readonly string[];
  readonly surroundings: Surroundings;
};

async function fitRules(
  work: Work,
  { wanted, groupIds, surroundings }: RulesRequest,
): Promise<void> {
  const { context, aws, name, signal } = work;
  const { subnets, routes } = surroundings;
  const alone = <T>(act: () => Promise<T>): Promise<T> =>
    context.alone(async () => {
      await context.settling.waitFor(sharedRulesKey, signal);
      const result = await act();
      context.settling.confirmed(sharedRulesKey);
      return result;
    });
  await fitNodeRules(
    { aws, alone, converge: (key, probe) => convergeFor(work, key, probe) },
    {
      balancer: name,
      wanted,
      groupIds,
      candidateIds: await candidateGroups(context, groupIds),
      successorOf: findSuccessors({
        balancer: name,
        services: context.services(),
        placementFor: (isInternal) => ({
          vpcId: '',
          subnets: chooseSubnets(subnets, routes, isInternal),
        }),
      }),
    },
  );
}

async function candidateGroups(
  context: Context,
  known: readonly string[],
): Promise<readonly string[]> {
  const listed = await context.nodeGroupIds(context.clock.now() - maxAgeMs);
  return [...new Set([...listed, ...known])];
}

/** Of each instance the one that the cluster may change. */
async function groupIdsOf(
  { cluster }: Context,
  aws: AwsCalls,
  instances: readonly Instance[],
): Promise<readonly string[]> {
  const ids = [...new Set(instances.flatMap(({ groupIds }) => groupIds))];
  const tag = clusterTag(cluster);
  const tagged = (await probeGroups(aws, ids)).filter(({ tags }) => tags[tag] !== undefined);
  return nodeGroupIds(instances, new Set(tagged.map(({ id }) => id)));
}

/** The group of a balancer that is gone, or has got others; no rule names it any more. */
async function dropGroup(work: Work, probe: FoundProbe): Promise<void> {
  const deleteOf = ({ group }: Found): readonly Change[] =>
    group === undefined ? [] : [{ kind: 'deleteGroup', groupId: group.id }];
  if (probe.last().group === undefined) return;
  await convergeFor(work, work.name, async () => deleteOf(await probe.probe()));
}
