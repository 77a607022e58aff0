// What has to change at a network balancer, its listeners and its target groups.
import type {
  Found,
  NetworkFound,
  NetworkListener,
  NetworkWanted,
  TargetGroupFound,
  TargetGroupWanted,
} from './balancer.ts';
import type { NetworkChange } from './changes.ts';
import {
  agrees,
  missingAttributes,
  missingTags,
  sameMembers,
  sameText,
  without,
} from './differences.ts';
import type { Tags } from './names.ts';

export type NetworkDiffInput = {
  readonly name: string;
  readonly vpcId: string;
  readonly tags: Tags;
  readonly balancer: NetworkWanted;
};

export function diffNetwork(input: NetworkDiffInput, found: Found): readonly NetworkChange[] {
  const { name, tags, balancer } = input;
  const { network, targetGroups } = found;
  const changes: NetworkChange[] = diffTargetGroups(input, targetGroups);
  if (network === undefined) {
    return [{ kind: 'createNetwork', name, wanted: balancer, tags }, ...changes];
  }
  return [
    ...diffSettings(input, network),
    ...changes,
    ...diffListeners(input, network, targetGroups),
    ...leftTargetGroups(input, network, targetGroups),
  ];
}

function diffSettings({ tags, balancer }: NetworkDiffInput, found: NetworkFound): NetworkChange[] {
  const { arn } = found;
  const { subnetIds } = balancer;
  const missing = missingTags(tags, found.tags);
  const attributes = missingAttributes(balancer.attributes, found.attributes);
  return [
    ...(missing === undefined ? [] : [{ kind: 'tagResource' as const, arn, tags: missing }]),
    ...(sameMembers(subnetIds, found.subnetIds)
      ? []
      : [{ kind: 'setSubnets' as const, arn, subnetIds }]),
    ...(attributes === undefined
      ? []
      : [{ kind: 'setNetworkAttributes' as const, arn, attributes }]),
  ];
}

function diffTargetGroups(
  { vpcId, tags, balancer }: NetworkDiffInput,
  found: readonly TargetGroupFound[],
): NetworkChange[] {
  return balancer.listeners.flatMap(({ targetGroup: wanted }): NetworkChange[] => {
    const there = found.find(({ name }) => name === wanted.name);
    if (there === undefined) return [{ kind: 'createTargetGroup', vpcId, wanted, tags }];
    return diffTargetGroup({ wanted, tags, balancer }, there);
  });
}

type TargetGroupInput = {
  readonly wanted: TargetGroupWanted;
  readonly tags: Tags;
  readonly balancer: NetworkWanted;
};

function diffTargetGroup(
  { wanted, tags, balancer }: TargetGroupInput,
  found: TargetGroupFound,
): NetworkChange[] {
  const changes: NetworkChange[] = [];
  const { arn } = found;
  const { port } = wanted;
  const missing = missingTags(tags, found.tags);
  if (missing !== undefined) changes.push({ kind: 'tagResource', arn, tags: missing });
  const isSameCheck =
    wanted.healthPort === found.healthPort &&
    wanted.healthPath === found.healthPath &&
    agrees(wanted.healthCheck, found.healthCheck);
  if (!isSameCheck) changes.push({ kind: 'setTargetGroup', arn, wanted });
  const attributes = missingAttributes(wanted.attributes, found.attributes);
  if (attributes !== undefined) {
    changes.push({ kind: 'setTargetGroupAttributes', arn, attributes });
  }
  const { instanceIds, stoppedIds } = balancer;
  const joining = without(instanceIds, found.instanceIds);
  const leaving = without(found.instanceIds, [...instanceIds, ...stoppedIds]);
  if (joining.length > 0) {
    changes.push({ kind: 'registerTargets', arn, port, instanceIds: joining });
  }
  if (leaving.length > 0) {
    changes.push({ kind: 'deregisterTargets', arn, port, instanceIds: leaving });
  }
  return changes;
}

function diffListeners(
  { tags, balancer }: NetworkDiffInput,
  network: NetworkFound,
  targetGroups: readonly TargetGroupFound[],
): NetworkChange[] {
  const wantedPorts = new Set(balancer.listeners.map(({ port }) => port));
  const left = network.listeners
    .filter(({ port }) => !wantedPorts.has(port))
    .map(({ arn }): NetworkChange => ({ kind: 'deleteListener', arn }));
  const kept = balancer.listeners.flatMap(({ targetGroup, ...listener }): NetworkChange[] => {
    const targetGroupArn = targetGroups.find(({ name }) => name === targetGroup.name)?.arn;
    if (targetGroupArn === undefined) return [];
    const there = network.listeners.find(({ port }) => port === listener.port);
    if (there === undefined) {
      return [{ kind: 'createListener', arn: network.arn, listener, targetGroupArn, tags }];
    }
    const { arn } = there;
    const missing = missingTags(tags, there.tags);
    const isSame = sameListener(listener, there) && there.targetGroupArn === targetGroupArn;
    return [
      ...(missing === undefined ? [] : [{ kind: 'tagResource' as const, arn, tags: missing }]),
      ...(isSame ? [] : [{ kind: 'setListener' as const, arn, listener, targetGroupArn }]),
    ];
  });
  return [...left, ...kept];
}

function sameListener(wanted: NetworkListener, found: NetworkListener): boolean {
  return (
    wanted.protocol === found.protocol &&
    sameText(wanted.certificate, found.certificate) &&
    sameText(wanted.sslPolicy, found.sslPolicy)
  );
}

/** A target group goes when no listener uses it any more. */
function leftTargetGroups(
  { balancer }: NetworkDiffInput,
  { listeners }: NetworkFound,
  found: readonly TargetGroupFound[],
): NetworkChange[] {
  const used = new Set(listeners.map(({ targetGroupArn }) => targetGroupArn));
  const wanted = new Set(balancer.listeners.map(({ targetGroup }) => targetGroup.name));
  return found
    .filter(({ arn, name }) => !used.has(arn) && !wanted.has(name))
    .map(({ arn }) => ({ kind: 'deleteTargetGroup', arn }));
}
