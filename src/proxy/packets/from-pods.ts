// How nftables rules match traffic of this node's pods.
import type { Statement } from '../../host/nftables/objects.ts';
import type { LocalTraffic } from '../model/state.ts';

/** Matches traffic of this node's pods; undefined if the configuration does not say how (KPX-22). */
export function isFromPods(traffic: LocalTraffic, isInverted = false): readonly Statement[] {
  switch (traffic.kind) {
    case 'unknown':
      return [];
    case 'cidr':
      return [{ kind: 'match-range', field: 'source', cidr: traffic.cidr, isInverted }];
    case 'interface':
      return [{ kind: 'match-input-interface', name: traffic.name, isPrefix: false, isInverted }];
    case 'interface-prefix':
      return [{ kind: 'match-input-interface', name: traffic.prefix, isPrefix: true, isInverted }];
  }
}
