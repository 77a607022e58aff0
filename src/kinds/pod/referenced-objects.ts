// Which secrets and config maps of its namespace a pod uses, wherever it names them.
import type { Pod } from './types.ts';

export type ReferencedObjects = {
  readonly secrets: ReadonlySet<string>;
  readonly configMaps: ReadonlySet<string>;
  readonly claims: ReadonlySet<string>;
};

/** Pods never change in place, so what one refers to is worked out once. */
const known = new WeakMap<Pod, ReferencedObjects>();

export function referencedObjects(pod: Pod): ReferencedObjects {
  let found = known.get(pod);
  if (found === undefined) {
    found = collect(pod);
    known.set(pod, found);
  }
  return found;
}

function collect({ spec }: Pod): ReferencedObjects {
  const containers = [
    ...(spec.initContainers ?? []),
    ...(spec.containers ?? []),
    ...(spec.ephemeralContainers ?? []),
  ];
  const env = containers.flatMap((container) => container.env ?? []);
  const envFrom = containers.flatMap((container) => container.envFrom ?? []);
  const sources = (spec.volumes ?? []).flatMap(
    ({ name: _name, ...source }) => Object.values(source) as readonly VolumeSource[],
  );
  const projected = sources.flatMap((source) => source?.sources ?? []);
  return {
    secrets: names([
      ...(spec.imagePullSecrets ?? []).map(({ name }) => name),
      ...env.map(({ valueFrom }) => valueFrom?.secretKeyRef?.name),
      ...envFrom.map(({ secretRef }) => secretRef?.name),
      ...sources.flatMap((source) => [
        source?.secretName,
        source?.secretRef?.name,
        source?.nodePublishSecretRef?.name,
      ]),
      ...projected.map(({ secret }) => secret?.name),
    ]),
    configMaps: names([
      ...env.map(({ valueFrom }) => valueFrom?.configMapKeyRef?.name),
      ...envFrom.map(({ configMapRef }) => configMapRef?.name),
      ...(spec.volumes ?? []).map(({ configMap }) => configMap?.name),
      ...projected.map(({ configMap }) => configMap?.name),
    ]),
    claims: names(
      (spec.volumes ?? []).map(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName),
    ),
  };
}

type Named = { readonly name?: string };

/** The fields in which sources of any sort name secrets, and the parts of a projected one. */
type VolumeSource =
  | {
      readonly secretName?: string;
      readonly secretRef?: Named;
      readonly nodePublishSecretRef?: Named;
      readonly sources?: readonly { readonly secret?: Named; readonly configMap?: Named }[] | null;
    }
  | undefined;

function names(all: readonly (string | undefined)[]): ReadonlySet<string> {
  return new Set(all.filter((name) => name !== undefined && name !== '') as string[]);
}
