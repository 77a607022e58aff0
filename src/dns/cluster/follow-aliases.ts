// Names that stand for other names: where they lead, through the cluster and out of it.
import type { ResourceRecord } from '../wire/encode-answer.ts';
import { ancestorOffset, isWithin, labelsOf, type WireName, wireName } from '../wire/names.ts';
import { findRows, type PodMode, type Row } from './find-rows.ts';
import { parseName } from './parse-name.ts';
import { addressRecords, aliasRecord } from './records.ts';
import type { Zone } from './zone.ts';

/** A part of an answer: records, and behind them those of a name of somebody else, if one is named. */
export type Way = { readonly records: readonly ResourceRecord[]; readonly target?: WireName };

/** CoreDNS follows that many names within the cluster. */
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
  /** Names that were followed, and whether they led anywhere: none is followed twice, however many point to it. */
  readonly found: Map<WireName, boolean>;
};

/** All that the rows of a name lead to. */
export function followAliases(
  zone: Zone,
  start: { readonly name: WireName; readonly type: number; readonly rows: readonly Row[] },
  options: AliasOptions,
): readonly Way[] {
  const search = { zone, type: start.type, options, found: new Map() };
  return waysFrom(search, start.name, start.rows, 0);
}

/** The addresses at a name, and where its aliases lead; `length` is that of the chain up to here. */
function waysFrom(
  search: Search,
  name: WireName,
  rows: readonly Row[],
  length: number,
): readonly Way[] {
  const addresses = addressRecords(name, search.type, search.options.ttl, rows);
  const targets = rows.flatMap((row) => (row.kind === 'alias' ? (wireName(row.target) ?? []) : []));
  return [
    ...(addresses.length === 0 ? [] : [{ records: addresses }]),
    ...[...new Set(targets)].flatMap((target) => followAlias(search, name, target, length)),
  ];
}

/** Through the cluster as long as the way leads through it; the rest is for somebody else. */
function followAlias(
  search: Search,
  name: WireName,
  target: WireName,
  length: number,
): readonly Way[] {
  const { zone, options, found } = search;
  // An alias of itself, or of something below itself, leads nowhere.
  if (length >= maxAliases || isWithin(target, name)) return [];
  const records = [aliasRecord(name, target, options.ttl)];
  if (!isWithin(target, options.domain)) return [{ records, target }];
  const known = found.get(target);
  if (known !== undefined) return known ? [{ records }] : [];
  // What comes back to it on the way has gone round in a circle.
  found.set(target, false);
  const behind = waysFrom(search, target, rowsOf(zone, target, options), length + 1);
  found.set(target, behind.length > 0);
  // An alias of nothing is not told: nobody could do anything with it.
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
