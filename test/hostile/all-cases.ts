// All attacks; a file of cases is one line here.
import { costlyObjects } from './costly-objects.ts';
import { floods } from './floods.ts';
import { heavyRequests } from './heavy-requests.ts';
import { namespaceChaos } from './namespace-chaos.ts';
import type { HostileCase } from './run-case.ts';

export const allCases: readonly HostileCase[] = [
  ...heavyRequests,
  ...costlyObjects,
  ...floods,
  namespaceChaos,
];
