// One rule as text, spelled and ordered as iptables-save prints it, so that what the kernel holds can be compared with
// what is wanted line by line.
import { formatAddress, parseAddress } from '../../../ip/address.ts';
import type { Family } from '../../model/state.ts';
import { protocolName } from './names.ts';
import type { RecentMatch, Rule, Target } from './rules.ts';

/** Everything after `-A CHAIN`. One string added to another: a hundred thousand rules are written in one go. */
export function renderRule(rule: Rule, family: Family): string {
  const conditions = renderHeader(rule) + renderMatches(rule, family);
  return rule.target.kind === 'count'
    ? conditions.trimEnd()
    : conditions + renderTarget(rule.target, family);
}

function renderHeader({ source, destination, inputInterface, protocol }: Rule): string {
  let text = '';
  if (source) text += `${not(source)}-s ${source.range} `;
  if (destination) text += `${not(destination)}-d ${destination.range} `;
  if (inputInterface) text += `${not(inputInterface)}-i ${inputInterface.pattern} `;
  if (protocol) text += `-p ${protocolName(protocol)} `;
  return text;
}

/** In the order in which they are to be asked: chance before a client is put on a list. */
function renderMatches(rule: Rule, family: Family): string {
  const { comment, connection, local, mark, probability, recent } = rule;
  let text = '';
  if (comment) text += `-m comment --comment ${quote(comment)} `;
  if (connection) {
    text += `-m conntrack ${not(connection)}--ctstate ${connection.states.join(',')} `;
    const { original } = connection;
    if (original) text += `${not(original)}--ctorigdst ${original.range} `;
  }
  if (local) text += `-m addrtype --${local === 'source' ? 'src' : 'dst'}-type LOCAL `;
  if (mark) text += `-m mark ${not(mark)}--mark ${hex(mark.bit)}/${hex(mark.bit)} `;
  if (rule.hasSameEnds) text += `-m bpf --bytecode ${quote(sameEndsProgram(family))} `;
  if (probability !== undefined) {
    text += `-m statistic --mode random --probability ${probability.toFixed(10)} `;
  }
  if (recent) text += `${renderRecent(recent, family)} `;
  return text + renderPorts(rule);
}

function renderPorts({ protocol, destinationPorts }: Rule): string {
  if (protocol === undefined || destinationPorts === undefined) return '';
  const { first, last } = destinationPorts;
  const ports = first === last ? `${first}` : `${first}:${last}`;
  return `-m ${protocolName(protocol)} --dport ${ports} `;
}

function not({ isNot }: { readonly isNot?: true }): string {
  return isNot ? '! ' : '';
}

function hex(bit: number): string {
  return `0x${bit.toString(16)}`;
}

function quote(text: string): string {
  return `"${text.replaceAll(/["\\]/g, '\\$&')}"`;
}

/** Affinity: checked in the service chain, recorded in the endpoint chain (IPT-04). */
function renderRecent(recent: RecentMatch, family: Family): string {
  const mask = family === 'IPv4' ? '255.255.255.255' : 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff';
  const list = `--name ${recent.list} --mask ${mask} --rsource`;
  if (recent.kind === 'set') return `-m recent --set ${list}`;
  const action = recent.kind === 'check' ? '--rcheck' : '--update';
  return `-m recent ${action} --seconds ${recent.seconds} --reap ${list}`;
}

function renderTarget(target: Target, family: Family): string {
  switch (target.kind) {
    case 'jump':
      return `-j ${target.chain}`;
    case 'translate':
      return `-j DNAT --to-destination ${renderDestination(target.ip, target.port)}`;
    case 'mark': {
      const bit = hex(target.bit);
      return `-j MARK --set-xmark ${bit}/${target.action === 'set' ? bit : '0x0'}`;
    }
    case 'masquerade':
      // With random source ports, so that connections of many clients do not collide (KPX-58).
      return '-j MASQUERADE --random-fully';
    case 'reject':
      return `-j REJECT --reject-with ${family === 'IPv4' ? 'icmp' : 'icmp6'}-port-unreachable`;
    case 'accept':
    case 'drop':
    case 'return':
      return `-j ${target.kind.toUpperCase()}`;
    case 'count':
      return '';
  }
}

function renderDestination(ip: string, port: number): string {
  const address = ip.includes(':') ? parseAddress(ip) : undefined;
  return address === undefined ? `${ip}:${port}` : `[${formatAddress(address)}]:${port}`;
}

/** Where the addresses begin in the header, and how many words of four bytes they have. */
const addressFields = {
  IPv4: { source: 12, destination: 16, words: 1 },
  IPv6: { source: 8, destination: 24, words: 4 },
} as const;

/** Classic BPF, an instruction being `code jumpTrue jumpFalse operand`; the packet starts at its IP header. */
function sameEndsProgram(family: Family): string {
  const { source, destination, words } = addressFields[family];
  const length = words * 4 + 2;
  const program: string[] = [];
  for (let word = 0; word < words; word += 1) {
    program.push(`32 0 0 ${source + word * 4}`, '7 0 0 0', `32 0 0 ${destination + word * 4}`);
    // Not equal: to the last instruction, counted from the next one.
    program.push(`29 0 ${length - program.length - 2} 0`);
  }
  program.push('6 0 0 65535', '6 0 0 0');
  return `${length},${program.join(',')}`;
}
