// Connects the steps of a request: limits, audit, dispatch, discovery, health.
import { allKinds } from '../kinds/all.ts';
import { isStoreError } from '../storage/store-error.ts';
import { createAuditor } from './audit/auditor.ts';
import { assertReadable } from './cache/report-unreadable.ts';
import type { ApiContext } from './context.ts';
import type { MeasuredOptions } from './create-context.ts';
import { createDiscovery } from './discovery/discovery.ts';
import { listedCollections } from './discovery/empty-collections.ts';
import { createHealth, withinTime } from './discovery/health.ts';
import type { VirtualKind } from './discovery/served-kind.ts';
import { versionInfo } from './discovery/version.ts';
import { spokenKinds, virtualKinds } from './discovery/virtual-kinds.ts';
import { createDispatch } from './dispatch.ts';
import { createHandler, type Handler } from './handle.ts';
import { createGate } from './limits/gate.ts';
import { defaultLimits } from './limits/limits.ts';
import { addProcessMetrics, createFlowMetrics, createRequestMetrics } from './metrics.ts';
import { createOpenApi } from './openapi/openapi.ts';
import { createRequestCatchUp } from './request/catch-up.ts';
import type { ResourceRequest } from './request/request-info.ts';
import type { ReviewParts } from './reviews/answer-review.ts';

export function createRequestHandler(options: MeasuredOptions, access: ReviewParts): Handler {
  const { store, now, log, metrics: registry } = options;
  const version = versionInfo({
    packageVersion: options.packageVersion,
    platform: process.platform,
    arch: process.arch,
    nodeVersion: process.version,
  });
  const listed = { definitions: [...allKinds, ...listedCollections], virtualKinds };
  const serverAddress = `${bracketed(options.advertiseAddress)}:${options.port}`;
  const dispatch = createDispatch({
    ...access,
    serverAddress,
    discovery: createDiscovery({ ...listed, serverAddress }),
    openApi: createOpenApi({ ...listed, spokenKinds, version: version.gitVersion }),
    health: createHealth([
      {
        name: options.shared?.backend ?? 'storage',
        kinds: ['livez'],
        check: () => withinTime(store.checkWrites().catch(ignoreFull)),
      },
      {
        // A server with a full store is not ready, but live: a restart would not help.
        name: options.shared?.backend ?? 'storage',
        kinds: ['healthz', 'readyz'],
        check: () => withinTime(store.checkWrites()),
      },
      {
        name: 'stored-objects',
        kinds: ['readyz'],
        check: () => assertReadable(access.context.resources),
      },
    ]),
    version: JSON.stringify(version),
    metricsText: registry.text,
  });
  addProcessMetrics(registry, Date.now() - performance.now());
  const { limits = defaultLimits, audit } = options;
  const metrics = createRequestMetrics({ registry, isServed: servedBy(access.context) });
  const gate = createGate(limits, createFlowMetrics(registry));
  const auditor = audit && createAuditor({ ...audit, metrics: registry, now });
  const catchUp = createRequestCatchUp(store);
  return createHandler({
    ...access,
    ...(catchUp === undefined ? {} : { catchUp }),
    ...{ dispatch, metrics, log, gate, requestTimeoutMs: limits.requestTimeoutMs },
    ...(auditor === undefined ? {} : { auditor }),
  });
}

function ignoreFull(error: unknown): void {
  if (!isStoreError(error, 'full')) throw error;
}

const bracketed = (address: string): string => (address.includes(':') ? `[${address}]` : address);

function servedBy({ resources }: ApiContext): (info: ResourceRequest) => boolean {
  return ({ group, version, resource: plural, subresource }) => {
    const found = resources.find(group, version, plural)?.definition.subresources;
    const isKnown = (kind: Pick<VirtualKind, 'group' | 'version' | 'plural'>): boolean =>
      kind.group === group && kind.version === version && kind.plural === plural;
    return subresource === ''
      ? resources.find(group, version, plural) !== undefined ||
          [...virtualKinds, ...listedCollections].some(isKnown)
      : (found?.some(({ name }) => name === subresource) ?? false);
  };
}
