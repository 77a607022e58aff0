// The provider: classic and network balancers of AWS for Services.
import type { Service } from '../../../kinds/service/types.ts';
import {
  ImplementedElsewhereError,
  type MakeProvider,
  type Provider,
  type ProviderGiven,
  ProviderSettingsError,
  RetryLaterError,
  UnmetRequestError,
} from '../../provider.ts';
import type { Sdk } from './apply-sdk.ts';
import { codeOf, isAwsError, isPassing } from './errors.ts';
import { createAwsMetrics } from './metrics.ts';
import { serviceTag } from './names.ts';
import { type AwsOptions, readOptions } from './options.ts';
import { probeClusterGroups } from './probe-groups.ts';
import { probeTargetGroupNames } from './probe-network.ts';
import { probeSurroundings } from './probe-surroundings.ts';
import { type Context, ensureBalancer, hasBalancer, removeBalancer } from './run-balancer.ts';
import { createListing, createMutex } from './run-listings.ts';
import { createSettling } from './run-settling.ts';

export const makeAwsProvider: MakeProvider = async (given, signal) => {
  const options = readOptions(given.settings);
  // Loaded here and not above: it is large, and most programs serve no AWS.
  const { openSdk } = await import('./apply-sdk.ts');
  const { region, endpoint, maxAttempts } = options;
  const sdk = openSdk({
    ...(region === undefined ? {} : { region }),
    ...(endpoint === undefined ? {} : { endpoint }),
    maxAttempts,
    observe: createAwsMetrics(given.metrics),
  });
  try {
    await sdk.region();
  } catch (error) {
    throw new ProviderSettingsError(
      `No region is known: --aws-region must name it, or AWS_REGION (${String(error)})`,
    );
  }
  signal.addEventListener('abort', sdk.close, { once: true });
  return createAwsProvider(createContext({ given, options, sdk, signal }), signal);
};

type ContextInput = {
  readonly given: ProviderGiven;
  readonly options: AwsOptions;
  readonly sdk: Sdk;
  readonly signal: AbortSignal;
};

function createContext({ given, options, sdk, signal }: ContextInput): Context {
  const { clusterName: cluster, clock } = given;
  const services = new Map<string, Service>();
  given.followServices({
    set: (service) => void services.set(service.metadata.uid ?? '', service),
    remove: (service) => void services.delete(service.metadata.uid ?? ''),
  });
  const aws = sdk.calls(signal);
  return {
    cluster,
    options,
    clock,
    sdk,
    settling: createSettling(clock, options.settleMs),
    alone: createMutex(),
    services: () => services.values(),
    targetGroupNames: createListing(clock, () => probeTargetGroupNames(aws)),
    nodeGroupIds: createListing(clock, async () => {
      const groups = await probeClusterGroups(aws, cluster);
      return groups.filter(({ tags }) => tags[serviceTag] === undefined).map(({ id }) => id);
    }),
    surroundings: createListing(clock, () => probeSurroundings(aws, cluster, options.vpcId)),
  };
}

function createAwsProvider(context: Context, signal: AbortSignal): Provider {
  const { settleMs } = context.options;
  const explained = <T>(act: Promise<T>): Promise<T> =>
    act.catch((error: unknown) => {
      throw explain(error, settleMs);
    });
  const until = (one: AbortSignal): AbortSignal => AbortSignal.any([one, signal]);
  return {
    name: 'aws',
    async ensure(request, one) {
      const hostname = await explained(ensureBalancer(context, request, until(one)));
      // LBC-38: the addresses behind the name change.
      return [{ hostname }];
    },
    // Hosts are a part of what is compared, and what does not differ is not touched.
    updateHosts: async (request, one) =>
      void (await explained(ensureBalancer(context, request, until(one)))),
    remove: (owner, _service, one) => explained(removeBalancer(context, owner, until(one))),
    exists: (owner, _service, one) => explained(hasBalancer(context, owner, until(one))),
  };
}

function explain(error: unknown, retryAfterMs: number): unknown {
  const isOwn =
    error instanceof UnmetRequestError ||
    error instanceof RetryLaterError ||
    error instanceof ImplementedElsewhereError;
  if (isOwn || !(error instanceof Error)) return error;
  const text = `${codeOf(error)}: ${error.message}`;
  if (isPassing(error))
    return new RetryLaterError(`AWS does not answer as it should: ${text}`, retryAfterMs);
  return isAwsError(error) ? new Error(`AWS refuses: ${text}`, { cause: error }) : error;
}
