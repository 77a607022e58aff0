// Explains a connection before it is made, hop by hop. Pure: all that it knows is in the snapshot, and all that it says is decided by
// the code of the proxy and the DNS.

import type { Family, Protocol } from '../proxy/model/state.ts';
import type { ClusterSettings } from '../snapshot/cluster-settings.ts';
import type { SnapshotIndex } from '../snapshot/index-snapshot.ts';
import type { SnapshotKind, Unread } from '../snapshot/snapshot.ts';
import { type Found, findDestinations } from './find-destinations.ts';
import { headlessPath } from './headless-path.ts';
import { isOwnLoopback, loopbackPath } from './loopback-path.ts';
import { families, type TracedMode } from './node-rules.ts';
import type { Parsed, SourceRequest, Target } from './parse-target.ts';
import { resolveSource, type Source } from './resolve-source.ts';
import type { Path, Trace, TraceMoment, TraceSource, TraceVerdict } from './trace.ts';
import { type PathOptions, tracePaths } from './trace-paths.ts';
import { verdictOf } from './verdict.ts';

export type TraceRequest = {
  readonly target: Target;
  /** As it was given. */
  readonly text: string;
  readonly from: SourceRequest;
  /** The current namespace. */
  readonly namespace: string;
  readonly protocol?: Protocol;
  /** The node at which connections from outside arrive; absent: any. */
  readonly via?: string;
};

export type TraceOptions = {
  readonly settings: ClusterSettings;
  readonly mode: TracedMode;
  readonly showRules?: PathOptions['showRules'];
  readonly onJudged?: PathOptions['onJudged'];
  /** The snapshot is of this time. */
  readonly at?: { readonly timeMs: number };
};

/** An error is a question that cannot be asked: the target or the source does not exist. */
export function traceConnection(
  index: SnapshotIndex,
  request: TraceRequest,
  { settings, mode, showRules, onJudged, at }: TraceOptions,
): Parsed<Trace> {
  const { domain, dnsAddresses, podRanges, proxyMode } = settings;
  const traced = { domain, dnsAddresses, podRanges, proxyMode };
  const { namespace, protocol, via } = request;
  const resolved = resolveSource(index, request.from, {
    ...{ settings: traced, namespace },
    ...(via === undefined ? {} : { via }),
  });
  if ('error' in resolved) return resolved;
  const source = resolved.value;
  const found = findDestinations(index, request.target, {
    ...{ source, namespace, domain: domain.value },
    ...(protocol === undefined ? {} : { protocol }),
    families: familiesOf(source, podRanges.value),
  });
  if ('error' in found) return found;
  const { name, port } = found.value;
  const paths = pathsOf(index, found.value, {
    ...{ source, mode, settings: traced },
    nodePortAddresses: settings.nodePortAddresses.value,
    ...(showRules === undefined ? {} : { showRules }),
    ...(onJudged === undefined ? {} : { onJudged }),
  });
  const verdict = verdictOf(index, { source, paths, found: found.value });
  return {
    value: {
      apiVersion: 'fairlead.dev/v1',
      kind: 'Trace',
      target: {
        text: request.text,
        protocol: found.value.protocol,
        ...(port === undefined ? {} : { port }),
      },
      source: shown(source),
      settings: traced,
      ...(at === undefined ? {} : { at: momentOf(index, at.timeMs) }),
      ...(name === undefined ? {} : { name }),
      paths,
      verdict,
      unread: unreadOf(index, verdict),
    },
  };
}

const momentOf = ({ snapshot }: SnapshotIndex, timeMs: number): TraceMoment => ({
  time: new Date(timeMs).toISOString(),
  present: snapshot.present ?? [],
});

function pathsOf(index: SnapshotIndex, found: Found, options: PathOptions): readonly Path[] {
  const { destinations, headless } = found;
  const { source } = options;
  if (headless === undefined) {
    return destinations.flatMap((one) =>
      isOwnLoopback(one, source)
        ? [loopbackPath(index, one, source)]
        : tracePaths(index, one, options),
    );
  }
  // IPv6 first, as names have them.
  return [...families].reverse().flatMap((family) => {
    const some = destinations.filter((one) => one.family === family);
    return headlessPath(index, { service: headless, source, destinations: some }) ?? [];
  });
}

/** Where nothing is known of the client, both. */
function familiesOf({ addresses, kind }: Source, podRanges: readonly string[]): readonly Family[] {
  const known = addresses.length > 0 ? addresses : kind === 'pod' ? podRanges : [];
  const found = families.filter((family) =>
    known.some((text) => text.includes(':') === (family === 'IPv6')),
  );
  return found.length === 0 ? families : found;
}

function shown({
  kind,
  namespace,
  name,
  isAssumed,
  addresses,
  nodes,
  sentence,
}: Source): TraceSource {
  return {
    kind,
    ...(namespace === undefined ? {} : { namespace }),
    ...(name === undefined ? {} : { name }),
    ...{ isAssumed, addresses, nodes, sentence },
  };
}

/** Without these a verdict may be unknown; without others it only says less. */
const deciding: ReadonlySet<SnapshotKind> = new Set(['services', 'endpointSlices', 'nodes']);

function unreadOf({ snapshot }: SnapshotIndex, { kind }: TraceVerdict): readonly Unread[] {
  if (kind !== 'unknown') return [];
  return snapshot.unread.filter((one) => one.reason !== 'not-served' && deciding.has(one.kind));
}
