// Refuses new external IPs of Services: a user who can create Services could otherwise intercept traffic to any address.
import type { Service } from '../../kinds/service/types.ts';
import { contains } from '../../meta/contains.ts';
import type { KubeObject } from '../../meta/object.ts';
import { type AdmissionPlugin, isResource, refused } from './admission.ts';

export const denyServiceExternalIPs: AdmissionPlugin = {
  name: 'DenyServiceExternalIPs',
  onByDefault: false,
  validate(request) {
    const { before, after, subresource } = request;
    if (!isResource(request, '', 'services') || subresource !== '') return;
    const known = externalIPs(before);
    if (externalIPs(after).every((ip) => contains(known, ip))) return;
    throw refused(request, 'Use of external IPs is denied by admission control.');
  },
};

const externalIPs = (object: KubeObject | undefined): readonly string[] =>
  (object as Service | undefined)?.spec.externalIPs ?? [];
