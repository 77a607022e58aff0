import { familyOf } from '../../ip/address.ts';
import { parseCidrSloppy } from '../../ip/cidr.ts';
import { sourceRangesOf } from '../../kinds/service/source-ranges.ts';
import { sourceRangesAnnotation } from '../../meta/well-known-annotations.ts';
import type { ServiceCheck, Symptom } from '../check.ts';
import { listText, objectName } from '../object-names.ts';
import type { ServiceSubject } from '../subject.ts';

export const sourceRangesUseless: ServiceCheck = {
  code: 'FL0608',
  severity: 'warning',
  title: 'Source ranges do not restrict what they seem to',
  scope: 'service',
  needs: ['services'],
  find(subject) {
    const ranges = sourceRangesOf(subject.service);
    if (ranges.length === 0) return [];
    const symptom = (message: string, sentence: string): readonly Symptom[] => [
      { message, evidence: [rangeEvidence(subject, ranges)], fix: { sentence } },
    ];
    if (subject.service.spec.type !== 'LoadBalancer') {
      return symptom(
        `Source ranges have no effect on a Service of type ${subject.service.spec.type ?? 'ClusterIP'}: every client reaches it`,
        'Use a NetworkPolicy, or a firewall before the nodes',
      );
    }
    const bad = ranges.filter((range) => parseCidrSloppy(range) === undefined);
    if (bad.length > 0) {
      return symptom(
        `${listText(bad.map((range) => `"${range}"`))} is not a range of addresses, and is ignored`,
        'Write ranges as 192.0.2.0/24, divided by commas',
      );
    }
    const open = openAddresses(subject, ranges);
    return open.length === 0
      ? []
      : symptom(
          `The source ranges have none of the family of ${listText(open)}: every client reaches that address`,
          'Add ranges of both families',
        );
  },
};

/** Addresses of the load balancer in a family without ranges are not restricted (KPX-28). */
function openAddresses({ service }: ServiceSubject, ranges: readonly string[]): readonly string[] {
  const families = new Set(ranges.map((range) => parseCidrSloppy(range)?.family));
  const ips = (service.status?.loadBalancer?.ingress ?? []).map(({ ip = '' }) => ip);
  return ips.filter((ip) => ip !== '' && !families.has(familyOf(ip)));
}

function rangeEvidence({ service }: ServiceSubject, ranges: readonly string[]) {
  const isField = (service.spec.loadBalancerSourceRanges ?? []).length > 0;
  return {
    object: objectName(service),
    field: isField
      ? 'spec.loadBalancerSourceRanges'
      : `metadata.annotations[${sourceRangesAnnotation}]`,
    value: ranges.join(','),
  };
}
