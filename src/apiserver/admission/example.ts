// Builders for tests of plugins: one request, and what a plugin says to it.
import { formatAddress, unmapped } from '../../ip/address.ts';
import type { AnyKind } from '../../kinds/definition.ts';
import { isApiError } from '../../meta/api-error.ts';
import { canonicalHost } from '../../meta/canonical-host.ts';
import type { KubeObject } from '../../meta/object.ts';
import { exampleReader } from '../access/example.ts';
import type { User } from '../access/user.ts';
import type { AdmissionFacts, AdmissionPlugin, AdmissionRequest } from './admission.ts';
import { defaultPodSecurity } from './pod-security/configuration.ts';

export type ExampleWrite = {
  readonly definition: AnyKind;
  readonly user?: User;
  readonly operation?: AdmissionRequest['operation'];
  readonly subresource?: string;
  readonly name?: string;
  readonly namespace?: string;
  readonly before?: KubeObject;
  readonly after?: KubeObject;
  /** What there is besides. */
  readonly objects?: readonly KubeObject[];
};

/** A server at 192.0.2.1:6443, also known as api.example; Services in 10.96.0.0/16. */
const exampleAddresses: AdmissionFacts['addresses'] = {
  isServerHost: (host) => ['192.0.2.1', 'api.example', 'localhost'].includes(canonicalHost(host)),
  isServer: (address, port) => formatAddress(unmapped(address)) === '192.0.2.1' && port === 6443,
  isServiceAddress: (address) => formatAddress(unmapped(address)).startsWith('10.96.'),
};

export const exampleFacts = (
  reader: AdmissionFacts['reader'],
  more: Partial<AdmissionFacts> = {},
): AdmissionFacts => ({
  ...{
    reader,
    randomSuffix: () => 'abcde',
    podSecurity: defaultPodSecurity,
    addresses: exampleAddresses,
  },
  ...{ clock: () => 0, pause: () => Promise.resolve() },
  waitFor: () => Promise.resolve(),
  limitRangesOf: () => [],
  quotas: { refusal: () => undefined },
  ...more,
});

/** The object that the plugin leaves, or the message with which it refuses. */
export function outcomeOf(
  plugin: AdmissionPlugin,
  { objects = [], ...write }: ExampleWrite,
): KubeObject | string | undefined {
  const { metadata = {} } = write.after ?? write.before ?? {};
  const request: AdmissionRequest = {
    user: { name: 'u', groups: [] },
    operation: 'create',
    subresource: '',
    name: metadata.name ?? '',
    namespace: metadata.namespace ?? '',
    dryRun: false,
    warn() {},
    annotate() {},
    ...write,
  };
  const facts = exampleFacts(exampleReader(objects));
  try {
    const after = plugin.mutate?.(request, facts) ?? write.after;
    if (request.operation !== 'delete' && after !== undefined)
      void plugin.validate?.({ ...request, operation: request.operation, after }, facts);
    return after;
  } catch (error) {
    if (isApiError(error)) return error.message;
    throw error;
  }
}
