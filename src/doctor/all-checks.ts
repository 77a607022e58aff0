// All checks, in the order of causes: what a check explains comes after it. Codes are grouped by hundreds: 01 selectors, 02 ports, 03 readiness, 04 traffic
// policies, 05 names, 06 addresses and load balancers, 07 hand-made endpoints, 08 environment and what was applied, 09 capacity and the parts themselves.
import type { Check } from './check.ts';
import { addressClaimedTwice } from './checks/address-claimed-twice.ts';
import { addressOfOthers } from './checks/address-of-others.ts';
import { endpointIsClusterIP } from './checks/endpoint-is-cluster-ip.ts';
import { endpointIsNothing } from './checks/endpoint-is-nothing.ts';
import { endpointsWithoutService } from './checks/endpoints-without-service.ts';
import { familyWithoutEndpoints } from './checks/family-without-endpoints.ts';
import { handMadeBesideController } from './checks/hand-made-beside-controller.ts';
import { handMadeNotReady } from './checks/hand-made-not-ready.ts';
import { handMadePortName } from './checks/hand-made-port-name.ts';
import { ingressBackendMissing } from './checks/ingress-backend-missing.ts';
import { ingressPortMissing } from './checks/ingress-port-missing.ts';
import { internalPolicyLocal } from './checks/internal-policy-local.ts';
import { loadBalancerIPIgnored } from './checks/load-balancer-ip-ignored.ts';
import { loadBalancerPending } from './checks/load-balancer-pending.ts';
import { mirroredAndHandMade } from './checks/mirrored-and-hand-made.ts';
import { nodePortNowhere } from './checks/node-port-nowhere.ts';
import { nodePortTaken } from './checks/node-port-taken.ts';
import { otherProxy } from './checks/other-proxy.ts';
import { probeFails } from './checks/probe-fails.ts';
import { selectorMatchesNothing } from './checks/selector-matches-nothing.ts';
import { selectorNearMiss } from './checks/selector-near-miss.ts';
import { selectorlessWithoutEndpoints } from './checks/selectorless-without-endpoints.ts';
import { sliceOfNames } from './checks/slice-of-names.ts';
import { sliceWithoutLabel } from './checks/slice-without-label.ts';
import { sourceRangesUseless } from './checks/source-ranges-useless.ts';
import { targetPortMissing } from './checks/target-port-missing.ts';

export const allChecks: readonly Check[] = [
  selectorNearMiss,
  selectorMatchesNothing,
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
  probeFails,
  internalPolicyLocal,
  addressOfOthers,
  addressClaimedTwice,
  loadBalancerPending,
  loadBalancerIPIgnored,
  sourceRangesUseless,
  nodePortNowhere,
  nodePortTaken,
  ingressBackendMissing,
  ingressPortMissing,
];
