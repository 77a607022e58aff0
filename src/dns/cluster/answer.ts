// Answers questions about names of the cluster. Pure: targets outside of the cluster are returned for the caller to resolve.
import type { ResourceRecord } from '../wire/encode-answer.ts';
import { isWithin, joinName, type WireName, wireName } from '../wire/names.ts';
import { types } from '../wire/record-types.ts';
import { findRows, type PodMode, type Row } from './find-rows.ts';
import { type AliasPath, followAliases, labelsBefore } from './follow-aliases.ts';
import { type NameServer, nameServers } from './name-servers.ts';
import { type NameRequest, parseName } from './parse-name.ts';
import {
  addressRecord,
  addressRecords,
  aliasRecord,
  nameServerRecord,
  pointerRecord,
  serviceRecords,
  textRecord,
} from './records.ts';
import { namesOfAddress, reversedAddress, reverseIPv4, reverseIPv6 } from './reverse.ts';
import { soaRecord } from './soa.ts';
import type { Zone } from './zone.ts';

export type ClusterOptions = {
  /** The cluster's domain. */
  readonly domain: WireName;
  readonly ttl: number;
  /** The TTL of the dns-version record. */
  readonly versionTtl: number;
  readonly pods: PodMode;
  readonly ignoreEmptyService: boolean;
  /** The addresses under which clients reach this server. */
  readonly ownAddresses: readonly string[];
};

/** What the outcome depends on: one Service, which need not exist, or nothing. */
export type Dependency = { readonly namespace: string; readonly name: string } | 'nothing';

export type ClusterOutcome =
  | {
      readonly kind: 'records';
      readonly zone: WireName;
      readonly answers: readonly ResourceRecord[];
      readonly additionals: readonly ResourceRecord[];
      readonly dependsOn?: Dependency;
    }
  /** Some paths end at a name outside of the cluster, whose records must be appended. */
  | { readonly kind: 'alias'; readonly paths: readonly AliasPath[] }
  | { readonly kind: 'missing'; readonly zone: WireName; readonly dependsOn?: Dependency }
  | { readonly kind: 'refused' }
  /** Not a name of the cluster, or an address of a reverse zone that the cluster does not use. */
  | { readonly kind: 'elsewhere' };

/** The version of the Kubernetes DNS specification. */
const schemaVersion = '1.1.0';
export function answerCluster(
  zone: Zone,
  { name, type }: { readonly name: WireName; readonly type: number },
  options: ClusterOptions & { readonly serial: () => number },
): ClusterOutcome {
  const apex = [options.domain, reverseIPv4, reverseIPv6].find((one) => isWithin(name, one));
  if (apex === undefined) return { kind: 'elsewhere' };
  if (type === types.AXFR || type === types.IXFR) return { kind: 'refused' };
  const labels = labelsBefore(name, apex);
  if (type === types.SOA) {
    const soa = soaRecord(apex, { ttl: options.ttl, serial: options.serial() });
    return records(apex, labels.length === 0 ? [soa] : []);
  }
  if (apex !== options.domain) return answerReverse(zone, { apex, labels, name, type }, options);
  return answerForward(zone, { labels, name, type }, options);
}

type Parsed = {
  readonly labels: readonly string[];
  readonly name: WireName;
  readonly type: number;
};

function answerReverse(
  zone: Zone,
  { apex, labels, name, type }: Parsed & { readonly apex: WireName },
  options: ClusterOptions,
): ClusterOutcome {
  if (labels.length === 0 && type !== types.TXT) {
    return type === types.NS
      ? nameServerAnswer(apex, nameServers(zone, apex, options), options.ttl)
      : records(apex, []);
  }
  if (isNameServer(labels, type)) return ownAddressAnswer(zone, { apex, name, type }, options);
  const address = type === types.PTR ? reversedAddress(apex, labels) : undefined;
  if (address === undefined) return { kind: 'elsewhere' };
  const found = namesOfAddress(zone, address).flatMap(
    (labelList) => joinName(labelList, options.domain) ?? [],
  );
  if (found.length === 0) return { kind: 'elsewhere' };
  return records(
    apex,
    found.map((target) => pointerRecord(name, target, options.ttl)),
  );
}

function answerForward(zone: Zone, parsed: Parsed, options: ClusterOptions): ClusterOutcome {
  const { labels, name, type } = parsed;
  const { domain, ttl } = options;
  if (type === types.TXT && labels.length === 1 && labels[0] === 'dns-version') {
    return records(domain, [textRecord(name, schemaVersion, options.versionTtl)]);
  }
  if (type === types.NS && labels.length === 0) {
    return nameServerAnswer(domain, nameServers(zone, domain, options), ttl);
  }
  if (isNameServer(labels, type)) {
    return ownAddressAnswer(zone, { apex: domain, name, type }, options);
  }
  const request = parseName(labels);
  if (request === undefined) return { kind: 'missing', zone: domain, dependsOn: 'nothing' };
  const rows = request === 'apex' ? [] : findRows(zone, request, options);
  // As CoreDNS: NXDOMAIN for TXT of a name without rows.
  if (rows === undefined || (type === types.TXT && rows.length === 0)) {
    return { kind: 'missing', zone: domain, ...ownService(request) };
  }
  return answerRows(zone, { ...parsed, request, rows }, options);
}

/** Whether the question is for this server's own name, ns.dns. As CoreDNS, TXT and PTR are not answered here. */
function isNameServer(labels: readonly string[], type: number): boolean {
  const isOther = type === types.TXT || type === types.PTR;
  return !isOther && labels.length === 2 && labels[0] === 'ns' && labels[1] === 'dns';
}

function ownAddressAnswer(
  zone: Zone,
  { apex, name, type }: Omit<Parsed, 'labels'> & { readonly apex: WireName },
  options: ClusterOptions,
): ClusterOutcome {
  const own = nameServers(zone, apex, options).map(({ address }) =>
    addressRecord(name, address, options.ttl),
  );
  return records(
    apex,
    own.filter((record) => record.type === type),
  );
}

type Found = Parsed & {
  readonly request: NameRequest | 'apex';
  readonly rows: readonly Row[];
};

function answerRows(zone: Zone, found: Found, options: ClusterOptions): ClusterOutcome {
  const { name, type, rows, request } = found;
  const { domain, ttl } = options;
  const [first] = rows;
  const own = ownService(request);
  switch (type) {
    case types.A:
    case types.AAAA:
      return rows.some(({ kind }) => kind === 'alias')
        ? answerPaths(domain, followAliases(zone, { name, type, rows }, options))
        : { ...records(domain, addressRecords(name, type, ttl, rows)), ...own };
    case types.CNAME: {
      const target = first?.kind === 'alias' ? wireName(first.target) : undefined;
      return {
        ...records(domain, target === undefined ? [] : [aliasRecord(name, target, ttl)]),
        ...own,
      };
    }
    case types.SRV: {
      const target = targetNameOf(request, domain) ?? name;
      const { answers, additionals } = serviceRecords(name, target, ttl, rows);
      return { ...records(domain, answers, additionals), ...own };
    }
    default:
      return { ...records(domain, []), ...own };
  }
}

function answerPaths(domain: WireName, paths: readonly AliasPath[]): ClusterOutcome {
  return paths.some(({ target }) => target !== undefined)
    ? { kind: 'alias', paths }
    : records(
        domain,
        paths.flatMap((path) => path.records),
      );
}

function ownService(request: NameRequest | 'apex') {
  if (request === 'apex' || request.kind !== 'svc') return undefined;
  const { namespace, name } = request;
  return namespace === undefined || name === undefined
    ? undefined
    : { dependsOn: { namespace, name } };
}

/** The name of the Service or pod itself, without endpoint, port and protocol labels. */
function targetNameOf(request: NameRequest | 'apex', domain: WireName): WireName | undefined {
  if (request === 'apex' || request.namespace === undefined || request.name === undefined) {
    return undefined;
  }
  return joinName([request.name, request.namespace, request.kind], domain);
}

function nameServerAnswer(
  zone: WireName,
  servers: readonly NameServer[],
  ttl: number,
): ClusterOutcome {
  const names = [...new Set(servers.map(({ name }) => name))];
  return records(
    zone,
    names.map((name) => nameServerRecord(zone, name, ttl)),
    servers.map(({ name, address }) => addressRecord(name, address, ttl)),
  );
}

function records(
  zone: WireName,
  answers: readonly ResourceRecord[],
  additionals: readonly ResourceRecord[] = [],
) {
  return { kind: 'records', zone, answers, additionals } as const;
}
