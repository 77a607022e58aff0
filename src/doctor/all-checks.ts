// All checks, in the order of causes: what a check explains comes after it. Codes are grouped by hundreds: 01 selectors, 02 ports, 03 readiness, 04 traffic
// policies, 05 names, 06 addresses and load balancers, 07 hand-made endpoints, 08 environment and what was applied, 09 capacity and the parts themselves.
import type { Check } from './check.ts';
import { addressClaimedTwice } from './checks/address-claimed-twice.ts';
import { addressOfOthers } from './checks/address-of-others.ts';
import { addressesExhausted } from './checks/addresses-exhausted.ts';
import { affinityBehindNat } from './checks/affinity-behind-nat.ts';
import { budgetBlocksDrains } from './checks/budget-blocks-drains.ts';
import { clientPortMissing } from './checks/client-port-missing.ts';
import { clusterDnsDown } from './checks/cluster-dns-down.ts';
import { containerNotConfigured } from './checks/container-not-configured.ts';
import { containerPortTwice } from './checks/container-port-twice.ts';
import { crashLoop } from './checks/crash-loop.ts';
import { distributionWithoutZones } from './checks/distribution-without-zones.ts';
import { endpointIsClusterIP } from './checks/endpoint-is-cluster-ip.ts';
import { endpointIsNothing } from './checks/endpoint-is-nothing.ts';
import { endpointsTogether } from './checks/endpoints-together.ts';
import { endpointsTruncated } from './checks/endpoints-truncated.ts';
import { endpointsWithoutNode } from './checks/endpoints-without-node.ts';
import { endpointsWithoutService } from './checks/endpoints-without-service.ts';
import { externalNameHost } from './checks/external-name-host.ts';
import { externalNameIsAddress } from './checks/external-name-is-address.ts';
import { externalNameMissing } from './checks/external-name-missing.ts';
import { externalNamePorts } from './checks/external-name-ports.ts';
import { externalNameRelative } from './checks/external-name-relative.ts';
import { externalPolicyLocal } from './checks/external-policy-local.ts';
import { familyWithoutEndpoints } from './checks/family-without-endpoints.ts';
import { foreignAnnotations } from './checks/foreign-annotations.ts';
import { handMadeBesideController } from './checks/hand-made-beside-controller.ts';
import { handMadeNotReady } from './checks/hand-made-not-ready.ts';
import { handMadePortName } from './checks/hand-made-port-name.ts';
import { headlessPortDiffers } from './checks/headless-port-differs.ts';
import { hintsIgnored } from './checks/hints-ignored.ts';
import { hostMissing } from './checks/host-missing.ts';
import { hostOfOtherNamespace } from './checks/host-of-other-namespace.ts';
import { imageMissing } from './checks/image-missing.ts';
import { ingressBackendMissing } from './checks/ingress-backend-missing.ts';
import { ingressPortMissing } from './checks/ingress-port-missing.ts';
import { initUnfinished } from './checks/init-unfinished.ts';
import { internalPolicyLocal } from './checks/internal-policy-local.ts';
import { linksBreakProgram } from './checks/links-break-program.ts';
import { listensOnLoopback } from './checks/listens-on-loopback.ts';
import { loadBalancerIPIgnored } from './checks/load-balancer-ip-ignored.ts';
import { loadBalancerPending } from './checks/load-balancer-pending.ts';
import { manifestRefused } from './checks/manifest-refused.ts';
import { manifestRepeated } from './checks/manifest-repeated.ts';
import { mirroredAndHandMade } from './checks/mirrored-and-hand-made.ts';
import { nameTooLong } from './checks/name-too-long.ts';
import { ndotsWaste } from './checks/ndots-waste.ts';
import { noGracePeriod } from './checks/no-grace-period.ts';
import { nodeNotReady } from './checks/node-not-ready.ts';
import { nodePortNowhere } from './checks/node-port-nowhere.ts';
import { nodePortTaken } from './checks/node-port-taken.ts';
import { onlyTerminating } from './checks/only-terminating.ts';
import { otherProxy } from './checks/other-proxy.ts';
import { podNamesMissing } from './checks/pod-names-missing.ts';
import { podStarting } from './checks/pod-starting.ts';
import { podUnscheduled } from './checks/pod-unscheduled.ts';
import { podWithoutClusterDns } from './checks/pod-without-cluster-dns.ts';
import { podWithoutNode } from './checks/pod-without-node.ts';
import { podsFinished } from './checks/pods-finished.ts';
import { podsInOtherNamespace } from './checks/pods-in-other-namespace.ts';
import { policyWithoutEffect } from './checks/policy-without-effect.ts';
import { portLostByApply } from './checks/port-lost-by-apply.ts';
import { portNameTwice } from './checks/port-name-twice.ts';
import { probeFails } from './checks/probe-fails.ts';
import { probePortMissing } from './checks/probe-port-missing.ts';
import { proxyDown } from './checks/proxy-down.ts';
import { publishesUnready } from './checks/publishes-unready.ts';
import { readinessGate } from './checks/readiness-gate.ts';
import { rulesBehind } from './checks/rules-behind.ts';
import { selectorEndsWithRollout } from './checks/selector-ends-with-rollout.ts';
import { selectorMatchesNothing } from './checks/selector-matches-nothing.ts';
import { selectorNearMiss } from './checks/selector-near-miss.ts';
import { selectorlessWithoutEndpoints } from './checks/selectorless-without-endpoints.ts';
import { selectsSeveralApps } from './checks/selects-several-apps.ts';
import { sliceOfNames } from './checks/slice-of-names.ts';
import { sliceWithoutLabel } from './checks/slice-without-label.ts';
import { slicesBehind } from './checks/slices-behind.ts';
import { sourceRangesUseless } from './checks/source-ranges-useless.ts';
import { startupFails } from './checks/startup-fails.ts';
import { stuckTerminating } from './checks/stuck-terminating.ts';
import { targetPortDiffers } from './checks/target-port-differs.ts';
import { targetPortMissing } from './checks/target-port-missing.ts';
import { targetPortOtherProtocol } from './checks/target-port-other-protocol.ts';
import { targetPortPartlyMissing } from './checks/target-port-partly-missing.ts';
import { targetPortUndeclared } from './checks/target-port-undeclared.ts';
import { tooManyLinks } from './checks/too-many-links.ts';
import { variableOfNoService } from './checks/variable-of-no-service.ts';
import { workloadAtZero } from './checks/workload-at-zero.ts';
import { workloadMakesNoPods } from './checks/workload-makes-no-pods.ts';

export const allChecks: readonly Check[] = [
  manifestRefused,
  manifestRepeated,
  workloadAtZero,
  workloadMakesNoPods,
  podsFinished,
  selectorNearMiss,
  podsInOtherNamespace,
  selectorMatchesNothing,
  selectsSeveralApps,
  selectorEndsWithRollout,
  portLostByApply,
  targetPortMissing,
  sliceWithoutLabel,
  selectorlessWithoutEndpoints,
  sliceOfNames,
  handMadePortName,
  endpointIsClusterIP,
  endpointIsNothing,
  handMadeNotReady,
  handMadeBesideController,
  mirroredAndHandMade,
  endpointsWithoutService,
  familyWithoutEndpoints,
  otherProxy,
  targetPortPartlyMissing,
  targetPortDiffers,
  targetPortOtherProtocol,
  targetPortUndeclared,
  portNameTwice,
  containerPortTwice,
  listensOnLoopback,
  onlyTerminating,
  podUnscheduled,
  imageMissing,
  containerNotConfigured,
  initUnfinished,
  crashLoop,
  probePortMissing,
  startupFails,
  probeFails,
  readinessGate,
  nodeNotReady,
  stuckTerminating,
  podWithoutNode,
  podStarting,
  publishesUnready,
  noGracePeriod,
  endpointsWithoutNode,
  internalPolicyLocal,
  addressOfOthers,
  addressClaimedTwice,
  loadBalancerPending,
  foreignAnnotations,
  loadBalancerIPIgnored,
  sourceRangesUseless,
  nodePortNowhere,
  nodePortTaken,
  ingressBackendMissing,
  ingressPortMissing,
  externalPolicyLocal,
  affinityBehindNat,
  distributionWithoutZones,
  hintsIgnored,
  policyWithoutEffect,
  slicesBehind,
  proxyDown,
  rulesBehind,
  endpointsTruncated,
  clusterDnsDown,
  externalNameIsAddress,
  externalNameRelative,
  externalNameMissing,
  externalNamePorts,
  externalNameHost,
  nameTooLong,
  headlessPortDiffers,
  hostOfOtherNamespace,
  hostMissing,
  clientPortMissing,
  podNamesMissing,
  podWithoutClusterDns,
  variableOfNoService,
  linksBreakProgram,
  tooManyLinks,
  ndotsWaste,
  endpointsTogether,
  budgetBlocksDrains,
  addressesExhausted,
];
