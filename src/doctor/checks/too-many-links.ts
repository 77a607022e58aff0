import type { Service } from '../../kinds/service/types.ts';
import { serviceVariables } from '../../node/environment/service-variables.ts';
import type { ClusterCheck } from '../check.ts';
import { countText } from '../object-names.ts';

/** Linux allows 128 KiB for one string and 2 MiB for all of them with the arguments; shells and `sh -c` wrappers copy them. */
const maxBytes = 1_000_000;
/** With fewer Services nothing can come near. */
const minServices = 1000;

export const tooManyLinks: ClusterCheck = {
  code: 'FL0803',
  severity: 'warning',
  title: 'Variables for Services fill the environment of pods',
  scope: 'cluster',
  needs: ['services', 'namespaces'],
  find({ index, isInScope }) {
    return index.snapshot.objects.namespaces.flatMap(({ metadata }) => {
      const { name: namespace = '' } = metadata;
      const services = index.servicesIn(namespace);
      if (!isInScope(namespace) || services.length < minServices) return [];
      const { variables, bytes } = sizeOf(namespace, services);
      if (bytes < maxBytes) return [];
      const about = { kind: 'Namespace', name: namespace };
      return [
        {
          about,
          message: `Every container gets about ${countText(variables, 'variable')} (${Math.round(bytes / 1024)} KiB) for ${countText(services.length, 'Service')}: programs start slowly, and fail with "argument list too long" above 2 MiB`,
          evidence: [{ object: about, field: 'Services', value: String(services.length) }],
          fix: { sentence: 'Set enableServiceLinks: false in pod templates' },
        },
      ];
    });
  },
};

/** The size of all is extrapolated from so many. */
const maxMeasured = 1000;

/** One Service at a time: a single object of a hundred thousand keys takes seconds. */
function sizeOf(namespace: string, services: readonly Service[]) {
  const step = Math.ceil(services.length / maxMeasured);
  const measured = services.filter((_service, at) => at % step === 0);
  let [variables, bytes] = [0, 0];
  for (const service of measured) {
    const own = serviceVariables({ namespace, hasServiceLinks: true, services: [service] });
    for (const [name, value] of Object.entries(own)) {
      variables += 1;
      bytes += name.length + value.length + 2;
    }
  }
  const all = services.length / measured.length;
  return { variables: Math.round(variables * all), bytes: bytes * all };
}
