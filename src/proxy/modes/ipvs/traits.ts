// What is different here from other modes, by the nature of IPVS.
import type { ModeTraits } from '../mode.ts';

export const traits: ModeTraits = {
  unusedPortOfClusterIP: 'reject',
  unusedPortOfOutsideIP: 'reject',
  unusedServiceIP: 'pass',
  nodePortOnLoopback: false,
  checksSourceRangesWithoutEndpoints: true,
  noLocalEndpoint: 'drop',
  relayedProtocols: [],
  defaultNodePortAddresses: 'all',
};
