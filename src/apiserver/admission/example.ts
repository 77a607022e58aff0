// Builders for tests of plugins: one request, and what a plugin says to it.
import type { AnyKind } from '../../kinds/definition.ts';
import { isApiError } from '../../meta/api-error.ts';
import type { KubeObject } from '../../meta/object.ts';
import { exampleReader } from '../access/example.ts';
import type { User } from '../user.ts';
import type { AdmissionPlugin, AdmissionRequest } from './admission.ts';

export type ExampleWrite = {
  readonly definition: AnyKind;
  readonly user?: User;
  readonly operation?: AdmissionRequest['operation'];
  readonly subresource?: string;
  readonly name?: string;
  readonly namespace?: string;
  readonly before?: KubeObject;
  readonly after?: KubeObject;
  /** What there is besides. */
  readonly objects?: readonly KubeObject[];
};

/** The object that the plugin leaves, or the message with which it refuses. */
export function outcomeOf(
  plugin: AdmissionPlugin,
  { objects = [], ...write }: ExampleWrite,
): KubeObject | string | undefined {
  const { metadata = {} } = write.after ?? write.before ?? {};
  const request: AdmissionRequest = {
    user: { name: 'u', groups: [] },
    operation: 'create',
    subresource: '',
    name: metadata.name ?? '',
    namespace: metadata.namespace ?? '',
    ...write,
  };
  const facts = { reader: exampleReader(objects), randomSuffix: () => 'abcde' };
  try {
    return plugin.admit(request, facts) ?? write.after;
  } catch (error) {
    if (isApiError(error)) return error.message;
    throw error;
  }
}
