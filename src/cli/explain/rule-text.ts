// The rules that a packet meets, in the syntax of the program that shows the kernel's: nft, iptables or ipvsadm.
import { renderElement, renderRule } from '../../host/nftables/render-text.ts';
import type { ProxyState } from '../../proxy/model/state.ts';
import type { MetRule } from '../../proxy/packets/met-rule.ts';
import type { Packet } from '../../proxy/packets/packet.ts';
import type { TracedMode } from '../../trace/node-rules.ts';

/** More ways by chance than this repeat themselves with other endpoints. */
const maxRules = 1000;

export function metRules(
  { tracePacket }: Pick<TracedMode, 'tracePacket'>,
  state: ProxyState,
  packet: Packet,
): readonly string[] {
  const lines = new Set<string>();
  const met = (rule: MetRule): void => {
    if (lines.size < maxRules) for (const line of ruleLines(rule, state)) lines.add(line);
  };
  tracePacket(state, met)(packet);
  return [...lines];
}

function ruleLines(rule: MetRule, { node }: ProxyState): readonly string[] {
  if (rule.kind === 'text') return [rule.text];
  const text = renderRule(rule, node.family === 'IPv4' ? 'ip' : 'ip6');
  return [
    `chain ${rule.chain}: ${text}`,
    ...rule.elements.map(({ set, element }) => `  element of ${set}: ${renderElement(element)}`),
  ];
}
