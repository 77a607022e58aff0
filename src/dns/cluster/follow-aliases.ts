// Follows aliases (ExternalName Services, FQDN endpoints) within the cluster, up to names outside of it.
import type { ResourceRecord } from '../wire/encode-answer.ts';
import { ancestorOffset, isWithin, labelsOf, type WireName, wireName } from '../wire/names.ts';
import { findRows, type PodMode, type Row } from './find-rows.ts';
import { parseName } from './parse-name.ts';
import { addressRecords, aliasRecord } from './records.ts';
import type { Zone } from './zone.ts';

/** A part of an answer: records, and the target outside of the cluster whose records follow, if any. */
export type AliasPath = { readonly records: readonly ResourceRecord[]; readonly target?: WireName };

/** CoreDNS' limit of a chain within the cluster. */
const maxAliases = 8;

export type AliasOptions = {
  /** The cluster's domain. */
  readonly domain: WireName;
  readonly ttl: number;
  readonly pods: PodMode;
  readonly ignoreEmptyService: boolean;
};

type Search = {
  readonly zone: Zone;
  readonly type: number;
  readonly options: AliasOptions;
  /** Followed names, and whether they led to records: each is followed once, however many aliases point to it. */
  readonly found: Map<WireName, boolean>;
};

/** Returns the records of the rows and of all names that they lead to. */
export function followAliases(
  zone: Zone,
  start: { readonly name: WireName; readonly type: number; readonly rows: readonly Row[] },
  options: AliasOptions,
): readonly AliasPath[] {
  const search = { zone, type: start.type, options, found: new Map() };
  return pathsFrom(search, start.name, start.rows, 0);
}

/** The addresses of a name and the paths of its aliases; `length` is the length of the chain so far. */
function pathsFrom(
  search: Search,
  name: WireName,
  rows: readonly Row[],
  length: number,
): readonly AliasPath[] {
  const addresses = addressRecords(name, search.type, search.options.ttl, rows);
  const targets = rows.flatMap((row) => (row.kind === 'alias' ? (wireName(row.target) ?? []) : []));
  return [
    ...(addresses.length === 0 ? [] : [{ records: addresses }]),
    ...[...new Set(targets)].flatMap((target) => followAlias(search, name, target, length)),
  ];
}

/** Follows the alias within the cluster; a target outside of it ends the path. */
function followAlias(
  search: Search,
  name: WireName,
  target: WireName,
  length: number,
): readonly AliasPath[] {
  const { zone, options, found } = search;
  // An alias of itself or of a name below itself is ignored.
  if (length >= maxAliases || isWithin(target, name)) return [];
  const records = [aliasRecord(name, target, options.ttl)];
  if (!isWithin(target, options.domain)) return [{ records, target }];
  const known = found.get(target);
  if (known !== undefined) return known ? [{ records }] : [];
  // Reaching the target again from here is a cycle.
  found.set(target, false);
  const behind = pathsFrom(search, target, rowsOf(zone, target, options), length + 1);
  found.set(target, behind.length > 0);
  // Omit an alias without records behind it.
  return behind.length === 0 ? [] : [{ records }, ...behind];
}

function rowsOf(zone: Zone, name: WireName, options: AliasOptions): readonly Row[] {
  const request = parseName(labelsBefore(name, options.domain));
  if (request === undefined || request === 'apex') return [];
  return findRows(zone, request, options) ?? [];
}

export function labelsBefore(name: WireName, apex: WireName): readonly string[] {
  return labelsOf(`${name.slice(0, ancestorOffset(name, apex) ?? 0)}\0`);
}
