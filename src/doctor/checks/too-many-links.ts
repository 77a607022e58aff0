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
      const variables = serviceVariables({ namespace, hasServiceLinks: true, services });
      const bytes = Object.entries(variables).reduce(
        (sum, [name, value]) => sum + name.length + value.length + 2,
        0,
      );
      if (bytes < maxBytes) return [];
      const about = { kind: 'Namespace', name: namespace };
      return [
        {
          about,
          message: `Every container gets ${countText(Object.keys(variables).length, 'variable')} (${Math.round(bytes / 1024)} KiB) for ${countText(services.length, 'Service')}: programs start slowly, and fail with "argument list too long" above 2 MiB`,
          evidence: [{ object: about, field: 'Services', value: String(services.length) }],
          fix: { sentence: 'Set enableServiceLinks: false in pod templates' },
        },
      ];
    });
  },
};
