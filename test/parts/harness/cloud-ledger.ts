// A cloud of which everything is known: it writes down every call and what stands after it, and fails when told to.

import { exampleUid } from '../../../src/cloud/example.ts';
import type {
  BalancerRequest,
  MakeProvider,
  Owner,
  Provider,
  ProviderGiven,
} from '../../../src/cloud/provider.ts';

export type Call = {
  readonly verb: 'ensure' | 'updateHosts' | 'remove';
  readonly uid: string;
  readonly service: string;
  readonly hosts: readonly string[];
  readonly at: number;
};

export type Balancer = { readonly ports: string; readonly hosts: string };

export type Ledger = {
  readonly make: MakeProvider;
  readonly calls: readonly Call[];
  /** By the uid of their Service. */
  readonly balancers: ReadonlyMap<string, Balancer>;
  /** Asked before each change, and after it: what it throws or awaits is what happens then. */
  meddle: (call: Call, when: 'before' | 'after') => void | Promise<void>;
};

const hostsOf = ({ nodes }: BalancerRequest): readonly string[] =>
  nodes.map(({ metadata }) => metadata.name ?? '');
const portsOf = ({ service }: BalancerRequest): string =>
  (service.spec.ports ?? []).map(({ port, nodePort }) => `${port}:${nodePort}`).join();

export function createLedger(): Ledger {
  const calls: Call[] = [];
  const balancers = new Map<string, Balancer>();
  const ledger: Ledger = {
    calls,
    balancers,
    meddle: () => {},
    make: async ({ clock }) => createProvider(clock),
  };
  const act = async (call: Call, change: () => void): Promise<void> => {
    calls.push(call);
    await ledger.meddle(call, 'before');
    change();
    await ledger.meddle(call, 'after');
  };
  const createProvider = (clock: ProviderGiven['clock']): Provider => {
    const describe = (
      verb: Call['verb'],
      { namespace, name, uid }: Owner,
      hosts: readonly string[] = [],
    ): Call => ({ verb, uid, service: `${namespace}/${name}`, hosts, at: clock.now() });
    const ofRequest = (verb: Call['verb'], request: BalancerRequest): Call => {
      const { namespace = '', name = '', uid = '' } = request.service.metadata;
      return describe(verb, { namespace, name, uid }, hostsOf(request));
    };
    const put = (uid: string, request: BalancerRequest): void =>
      void balancers.set(uid, { ports: portsOf(request), hosts: hostsOf(request).join() });
    return {
      name: 'ledger',
      async ensure(request) {
        const call = ofRequest('ensure', request);
        await act(call, () => put(call.uid, request));
        return [{ hostname: `${exampleUid(call.uid)}.example.com` }];
      },
      async updateHosts(request) {
        const call = ofRequest('updateHosts', request);
        await act(call, () => put(call.uid, request));
      },
      remove: (owner) => act(describe('remove', owner), () => void balancers.delete(owner.uid)),
      exists: async ({ uid }) => balancers.has(uid),
    };
  };
  return ledger;
}
