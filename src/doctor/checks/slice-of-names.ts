import type { ServiceCheck } from '../check.ts';
import { objectName } from '../object-names.ts';

export const sliceOfNames: ServiceCheck = {
  code: 'FL0709',
  severity: 'error',
  title: 'An EndpointSlice has domain names, which proxies do not use',
  scope: 'service',
  needs: ['services', 'endpointSlices'],
  explains: ['FL0606'],
  find({ hasClusterIP, slices }) {
    if (!hasClusterIP) return [];
    const named = slices().filter(({ addressType }) => addressType === 'FQDN');
    const isOnly = slices().length === named.length;
    return named.map((slice) => ({
      severity: isOnly ? 'error' : 'warning',
      message: `EndpointSlice "${slice.metadata.name}" has the address type FQDN: no proxy sends connections to domain names`,
      evidence: [{ object: objectName(slice), field: 'addressType', value: 'FQDN' }],
      fix: { sentence: 'List IP addresses, or use a Service of type ExternalName' },
    }));
  },
};
