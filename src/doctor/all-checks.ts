// All checks, in the order of causes: what a check explains comes after it. Codes are grouped by hundreds: 01 selectors, 02 ports, 03 readiness, 04 traffic
// policies, 05 names, 06 addresses and load balancers, 07 hand-made endpoints, 08 environment and what was applied, 09 capacity and the parts themselves.
import type { Check } from './check.ts';
import { internalPolicyLocal } from './checks/internal-policy-local.ts';
import { probeFails } from './checks/probe-fails.ts';
import { selectorMatchesNothing } from './checks/selector-matches-nothing.ts';
import { selectorNearMiss } from './checks/selector-near-miss.ts';
import { targetPortMissing } from './checks/target-port-missing.ts';

export const allChecks: readonly Check[] = [
  selectorNearMiss,
  selectorMatchesNothing,
  targetPortMissing,
  probeFails,
  internalPolicyLocal,
];
