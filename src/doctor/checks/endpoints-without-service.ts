import { leaderAnnotation } from '../../meta/well-known-annotations.ts';
import type { ClusterCheck } from '../check.ts';
import { similarWord } from '../edit-distance.ts';
import { objectName } from '../object-names.ts';

export const endpointsWithoutService: ClusterCheck = {
  code: 'FL0708',
  severity: 'warning',
  title: 'Endpoints have the name of no Service',
  scope: 'cluster',
  needs: ['services', 'endpoints'],
  find({ index, isInScope }) {
    return index.snapshot.objects.endpoints.flatMap((endpoints) => {
      const { namespace = '', name = '', annotations = {} } = endpoints.metadata;
      const isUsed =
        index.service(namespace, name) !== undefined || leaderAnnotation in annotations;
      if (isUsed || !isInScope(namespace)) return [];
      // Those of a deleted Service are removed; these were written by hand for a Service of another name.
      const names = index.servicesIn(namespace).flatMap(({ metadata }) => metadata.name ?? []);
      const similar = similarWord(name, names);
      const about = objectName(endpoints);
      return [
        {
          about,
          severity: similar === undefined ? 'info' : 'warning',
          message: `No Service is named "${name}", so nothing uses these Endpoints${similar === undefined ? '' : `; there is a Service "${similar}"`}`,
          evidence: [{ object: about, field: 'metadata.name', value: name }],
          fix: {
            sentence:
              similar === undefined
                ? 'Create the Service, without a selector, or delete the Endpoints'
                : `Create them again with the name "${similar}"`,
          },
        },
      ];
    });
  },
};
