// Over a carrier that is as simple as can be: `judgePacket` itself. With real carriers the contract runs in ../all.test.ts.
import { judgePacket } from '../../packets/reference-model.ts';
import { runModeContract } from '../mode.contract.ts';
import type { Mode } from '../mode.ts';
import { userspaceOver } from './mode.ts';

const traits: Mode['traits'] = {
  unusedPortOfClusterIP: 'reject',
  unusedServiceIP: 'drop',
  nodePortOnLoopback: false,
  checksSourceRangesWithoutEndpoints: true,
  noLocalEndpoint: 'drop',
  relayedProtocols: [],
  defaultNodePortAddresses: 'primary',
};
const unused = (): Promise<never> => Promise.reject(new Error('only walks'));

runModeContract(
  userspaceOver([
    {
      name: 'carrier',
      configuration: { sections: [] },
      probe: unused,
      start: unused,
      cleanup: unused,
      tracePacket: (state) => (packet) => judgePacket(state, packet, traits),
      traits,
    },
  ]),
);
