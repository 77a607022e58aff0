// An annotation that counts the changes of the template. Upstream has it as a field inside and writes it as this annotation.
import { withMetadata } from '../../meta/object.ts';
import { templateGenerationAnnotation } from '../../meta/well-known-annotations.ts';
import { deepEqual } from '../../schema/equality.ts';
import type { DaemonSet } from './types.ts';

/** Undefined for what is no number. */
export function templateGeneration({ metadata }: DaemonSet): number | undefined {
  const text = metadata.annotations?.[templateGenerationAnnotation] ?? '';
  return text.length < 16 && /^-?[0-9]+$/.test(text) ? Number(text) : undefined;
}

export function firstTemplateGeneration(set: DaemonSet): DaemonSet {
  return withTemplateGeneration(set, Math.max(1, templateGeneration(set) ?? 1));
}

/** Clients cannot set it in an update. */
export function nextTemplateGeneration(before: DaemonSet, after: DaemonSet): DaemonSet {
  const generation = templateGeneration(before) ?? 1;
  const isChanged = !deepEqual(before.spec.template, after.spec.template);
  return withTemplateGeneration(after, isChanged ? generation + 1 : generation);
}

function withTemplateGeneration(set: DaemonSet, generation: number): DaemonSet {
  const annotations = {
    ...set.metadata.annotations,
    [templateGenerationAnnotation]: String(generation),
  };
  return withMetadata(set, { ...set.metadata, annotations });
}
