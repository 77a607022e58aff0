// What there is to know about the measurement itself: nodes that did not answer, and what those that did could not count.
import type { NodeReport, TopServices } from './top-services.ts';

export type Note = { readonly text: string; readonly isProblem: boolean };

const maxNames = 5;
/** Answers of earlier measurements are mentioned from then on. */
const oldMs = 1000;

export function nodeNotes({ nodes }: TopServices, isVerbose: boolean): readonly Note[] {
  const answered = nodes.filter(({ reason }) => reason === undefined);
  const names = (of: readonly NodeReport[]): string => namesText(of, isVerbose);
  const uncounted = answered.filter(({ bytesCounted }) => bytesCounted === 'no');
  const partly = answered.filter(({ bytesCounted }) => bytesCounted === 'partly');
  const cut = answered.filter(({ omittedRows = 0 }) => omittedRows > 0);
  const full = answered.filter(({ isPartial }) => isPartial === true);
  return [
    { text: measuredText(nodes, answered), isProblem: answered.length === 0 },
    ...unansweredNotes(nodes, isVerbose),
    ...problem(
      uncounted,
      `bytes are not counted on ${names(uncounted)}; for new connections, "${switchOn}" on the node switches that on`,
    ),
    ...problem(
      partly,
      `bytes of connections that began before accounting was switched on are missing on ${names(partly)}`,
    ),
    ...problem(
      cut,
      `endpoints with the least traffic are missing from the answers of ${names(cut)}`,
    ),
    ...problem(
      full,
      `rates are too low: too many connections to compare all of them on ${names(full)}`,
    ),
  ];
}

const switchOn = 'sysctl -w net.netfilter.nf_conntrack_acct=1';

const problem = (nodes: readonly NodeReport[], text: string): readonly Note[] =>
  nodes.length === 0 ? [] : [{ text, isProblem: true }];

function measuredText(nodes: readonly NodeReport[], answered: readonly NodeReport[]): string {
  if (nodes.length === 0) return 'no node proxy is connected to the API server';
  const of = answered.length === nodes.length ? '' : ` of ${nodes.length}`;
  const count = `${answered.length}${of} node${nodes.length === 1 ? '' : 's'}`;
  if (answered.length === 0) return `${count} answered`;
  const seconds = answered.map(({ intervalMilliseconds = 0 }) => intervalMilliseconds / 1000);
  const ages = answered.map(({ ageMilliseconds = 0 }) => ageMilliseconds);
  const age = Math.max(...ages);
  const ago = age < oldMs ? '' : `, up to ${(age / 1000).toFixed(1)} s ago`;
  return `measured on ${count} for ${range(Math.min(...seconds), Math.max(...seconds))} s${ago}`;
}

function range(least: number, most: number): string {
  const [from, to] = [least.toFixed(1), most.toFixed(1)];
  return from === to ? from : `${from} to ${to}`;
}

/** Nodes with one reason together. */
function unansweredNotes(nodes: readonly NodeReport[], isVerbose: boolean): readonly Note[] {
  const byReason = new Map<string, NodeReport[]>();
  for (const one of nodes) {
    if (one.reason === undefined) continue;
    const list = byReason.get(one.reason) ?? [];
    byReason.set(one.reason, list);
    list.push(one);
  }
  return [...byReason].map(([reason, list]) => ({
    text: `nothing is known of ${namesText(list, isVerbose)}: ${reason}`,
    isProblem: true,
  }));
}

function namesText(nodes: readonly NodeReport[], isVerbose: boolean): string {
  const names = nodes.map(({ node }) => node);
  const shown = isVerbose ? names : names.slice(0, maxNames);
  const more = names.length - shown.length;
  return `node${names.length === 1 ? '' : 's'} ${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** How much of it was measured before the request, which took so long. */
export function outdated({ nodes }: TopServices, requestMs: number): 'none' | 'some' | 'all' {
  const ages = nodes.flatMap(({ ageMilliseconds }) => ageMilliseconds ?? []);
  const count = ages.filter((age) => age > requestMs).length;
  return count === 0 ? 'none' : count < ages.length ? 'some' : 'all';
}
