// How much a quota's namespace uses, counted anew.
import type { ResourceList } from '../../kinds/pod/resources.ts';
import { addLists, onlyNames } from '../../kinds/resource-quota/quantities.ts';
import type { ResourceQuota } from '../../kinds/resource-quota/types.ts';
import { evaluatorOf, isCounted } from '../../kinds/resource-quota/usage.ts';
import type { KubeObject } from '../../meta/object.ts';

const countPrefix = 'count/';
const special = ['pods', 'services', 'persistentvolumeclaims'];

/** The resources whose objects the quota counts, such as `jobs.batch`. */
export function countedResources({ spec }: ResourceQuota): readonly string[] {
  const names = Object.keys(spec.hard ?? {});
  const plain = names.filter((name) => !name.includes('/') && !name.includes('.'));
  const counted = names.flatMap((name) =>
    name.startsWith(countPrefix) ? [name.slice(countPrefix.length)] : [],
  );
  return [...new Set([...special, ...plain, ...counted])].filter((resource) => {
    const evaluator = evaluatorOf(resource);
    return evaluator !== undefined && names.some(evaluator.knows);
  });
}

/** The status that the quota should have; `objectsOf` has the objects of each counted resource that exists. */
export function measuredStatus(
  quota: ResourceQuota,
  objectsOf: ReadonlyMap<string, readonly KubeObject[]>,
): ResourceQuota['status'] {
  const { hard = {} } = quota.spec;
  let used: ResourceList = {};
  for (const [resource, objects] of objectsOf) {
    const evaluator = evaluatorOf(resource);
    if (evaluator === undefined) continue;
    const limited = Object.keys(hard).filter(evaluator.knows);
    const nothing = Object.fromEntries(limited.map((name) => [name, '0']));
    const counted = objects
      .filter((object) => isCounted({ limited, quota }, evaluator, object))
      .map((object) => onlyNames(evaluator.usage(object), limited));
    used = counted.reduce(addLists, { ...nothing, ...used });
  }
  return { hard, used };
}
