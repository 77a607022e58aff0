// How a service port's chain chooses an endpoint, and what an endpoint's own chain does.
import type { Endpoint, ServicePort } from '../../model/state.ts';
import { hostRange, type RuleContext } from './layout.ts';
import { chainNames, displayName, type PortChainNames } from './names.ts';
import type { Chain, RecentMatch, Rule } from './rules.ts';

export type EndpointOptions = {
  readonly port: ServicePort;
  readonly names: PortChainNames;
  readonly context: RuleContext;
};

/** First the rules of clients with affinity, then a random choice with equal probabilities. */
export function spreadRules(
  endpoints: readonly Endpoint[],
  options: EndpointOptions,
): readonly Rule[] {
  const isInline = options.context.layout.endpoints === 'inline';
  const { affinitySeconds } = options.port;
  const sticky =
    affinitySeconds === undefined
      ? []
      : endpoints.map((endpoint): Rule => {
          const list = options.names.endpoint(endpoint);
          const kind = isInline ? 'update' : 'check';
          const recent: RecentMatch = { kind, list, seconds: affinitySeconds };
          return isInline
            ? { recent, ...translation(endpoint, options) }
            : { ...about(endpoint, options), recent, target: { kind: 'jump', chain: list } };
        });
  const spread = endpoints.map((endpoint, i): Rule => {
    const chance = chanceOf(i, endpoints.length);
    return isInline
      ? { ...chance, ...remember(endpoint, options), ...translation(endpoint, options) }
      : {
          ...about(endpoint, options),
          ...chance,
          target: { kind: 'jump', chain: options.names.endpoint(endpoint) },
        };
  });
  return [...sticky, ...spread];
}

/** The chains of the endpoints, once each; none in the inline layout. */
export function endpointChains(
  endpoints: readonly Endpoint[],
  options: EndpointOptions,
): readonly Chain[] {
  if (options.context.layout.endpoints === 'inline') return [];
  const chains = endpoints.map((endpoint): [string, Chain] => {
    const name = options.names.endpoint(endpoint);
    const comment = options.context.layout.hasComments
      ? { comment: displayName(options.port) }
      : {};
    // IPT-05: what an endpoint sends to itself must not come back with its own address (KPX-21).
    const hairpin: Rule = {
      source: { range: hostRange(endpoint.ip) },
      ...comment,
      target: { kind: 'jump', chain: chainNames.markMasquerade },
    };
    const translate: Rule = {
      ...comment,
      ...remember(endpoint, options),
      ...translation(endpoint, options),
    };
    return [name, { table: 'nat', name, rules: [hairpin, translate] }];
  });
  return [...new Map(chains).values()];
}

/** Each rule takes its share of what the rules before it left, the last takes the rest (IPT-03). */
function chanceOf(i: number, count: number): Pick<Rule, 'probability'> {
  return i === count - 1 ? {} : { probability: 1 / (count - i) };
}

function remember(endpoint: Endpoint, { port, names }: EndpointOptions): Pick<Rule, 'recent'> {
  if (port.affinitySeconds === undefined) return {};
  return { recent: { kind: 'set', list: names.endpoint(endpoint) } };
}

function translation(
  { ip, port }: Endpoint,
  options: EndpointOptions,
): Pick<Rule, 'protocol' | 'target'> {
  return { protocol: options.port.protocol, target: { kind: 'translate', ip, port } };
}

function about({ ip, port }: Endpoint, options: EndpointOptions): Pick<Rule, 'comment'> {
  if (!options.context.layout.hasComments) return {};
  const address = ip.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}`;
  return { comment: `${displayName(options.port)} -> ${address}` };
}
