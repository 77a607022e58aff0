import type { Service } from '../../kinds/service/types.ts';
import { objectKey } from '../../meta/object.ts';
import { type ClaimRank, createClaims } from '../../proxy/model/claims.ts';
import { servicePorts } from '../../proxy/model/service-ports.ts';
import type { ClusterCheck, ClusterSymptom } from '../check.ts';
import { objectName } from '../object-names.ts';

type Claimed = {
  readonly service: Service;
  readonly portKey: string;
  readonly name: string;
  readonly rank: ClaimRank;
};

export const addressClaimedTwice: ClusterCheck = {
  code: 'FL0603',
  severity: 'error',
  title: 'Two Services claim one address and port',
  scope: 'cluster',
  needs: ['services'],
  find({ index, isInScope }) {
    const claimed = index.snapshot.objects.services.flatMap(claimsOf);
    const claims = createClaims();
    for (const { portKey, service, name, rank } of claimed) {
      claims.add({ portKey, created: service.metadata.creationTimestamp ?? '' }, { name, rank });
    }
    const winners = new Map(
      claimed
        .filter(({ portKey, name }) => claims.has(portKey, name))
        .map((one) => [one.name, one]),
    );
    return claimed.flatMap((one) => {
      const winner = winners.get(one.name);
      const isLoser = winner !== undefined && winner.service !== one.service;
      return isLoser && isInScope(one.service.metadata.namespace ?? '')
        ? [symptom(one, winner)]
        : [];
    });
  },
};

function claimsOf(service: Service): readonly Claimed[] {
  const { spec, status } = service;
  const namesAny =
    (spec.externalIPs ?? []).length > 0 || (status?.loadBalancer?.ingress ?? []).length > 0;
  if (!namesAny) return [];
  return (['IPv4', 'IPv6'] as const).flatMap((family) =>
    servicePorts(service, { family, allowsExternalIPs: true }).flatMap((port) => {
      const claim = (ip: string, rank: ClaimRank): Claimed => ({
        service,
        portKey: port.key,
        name: `${ip} ${port.port} ${port.protocol}`,
        rank,
      });
      return [
        ...port.loadBalancerIPs.map((ip) => claim(ip, 'loadBalancer')),
        ...port.externalIPs.map((ip) => claim(ip, 'other')),
      ];
    }),
  );
}

function symptom({ service, name }: Claimed, winner: Claimed): ClusterSymptom {
  const [ip = '', port = '', protocol = ''] = name.split(' ');
  const about = objectName(service);
  return {
    about,
    message: `Connections to ${ip}:${port}/${protocol} go to Service ${objectKey(winner.service.metadata)}, which claims the same address and port and comes first`,
    evidence: [
      { object: about, field: 'spec.externalIPs, status.loadBalancer.ingress', value: ip },
      {
        object: objectName(winner.service),
        field: 'spec.externalIPs, status.loadBalancer.ingress',
        value: ip,
      },
    ],
    fix: { sentence: 'Give one of the two Services another address or another port' },
  };
}
