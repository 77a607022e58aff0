// What is different here from other modes, by the nature of iptables.
import type { ModeTraits } from '../mode.ts';

export const traits: ModeTraits = {
  unusedPortOfClusterIP: 'pass',
  unusedServiceIP: 'pass',
  nodePortOnLoopback: true,
  checksSourceRangesWithoutEndpoints: false,
  noLocalEndpoint: 'drop',
  relayedProtocols: [],
  defaultNodePortAddresses: 'all',
};
