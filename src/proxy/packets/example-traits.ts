// For tests that need a mode, but not its behaviour.
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
