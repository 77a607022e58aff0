import type { ModeTraits } from '../mode.ts';

export const traits: ModeTraits = {
  unusedPortOfClusterIP: 'reject',
  unusedServiceIP: 'drop',
  nodePortOnLoopback: false,
  checksSourceRangesWithoutEndpoints: true,
  noLocalEndpoint: 'drop',
  relayedProtocols: [],
  defaultNodePortAddresses: 'primary',
};
