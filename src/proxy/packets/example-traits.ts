// For tests that need a mode and not what it does.
import type { ModeTraits } from '../modes/mode.ts';

export const exampleTraits: ModeTraits = {
  unusedPortOfClusterIP: 'pass',
  unusedServiceIP: 'pass',
  nodePortOnLoopback: false,
  checksSourceRangesWithoutEndpoints: true,
  noLocalEndpoint: 'drop',
  relayedProtocols: [],
  defaultNodePortAddresses: 'all',
};
