// Admission: what must hold around a write beyond the object itself, decided by plugins in a fixed order.
import type { AnyKind } from '../../kinds/definition.ts';
import { type ApiError, forbidden } from '../../meta/api-error.ts';
import type { KubeObject } from '../../meta/object.ts';
import type { ObjectReader } from '../object-reader.ts';
import type { User } from '../user.ts';

export type AdmissionRequest = {
  readonly user: User;
  readonly operation: 'create' | 'update' | 'delete';
  readonly definition: AnyKind;
  /** Empty for the object itself. */
  readonly subresource: string;
  /** Empty for cluster-wide kinds. */
  readonly namespace: string;
  /** Of the path or of the object; empty when the server has yet to make it. */
  readonly name: string;
  /** The name in the path; a POST to a collection has none. */
  readonly pathName?: string;
  readonly before?: KubeObject;
  /** What was sent: for a subresource with a kind of its own, an object of that kind. Absent for deletes. */
  readonly after?: KubeObject;
};

/** What plugins decide with besides the request. */
export type AdmissionFacts = {
  readonly reader: ObjectReader;
  readonly randomSuffix: () => string;
};

export type AdmissionPlugin = {
  /** As flags name it. */
  readonly name: string;
  readonly onByDefault: boolean;
  /** Throws ApiError to refuse; returns the object to go on with where it changes it. */
  readonly admit: (request: AdmissionRequest, facts: AdmissionFacts) => KubeObject | undefined;
};

export type WriteAdmission = AdmissionRequest & {
  readonly operation: 'create' | 'update';
  readonly after: KubeObject;
};
export type DeleteAdmission = AdmissionRequest & { readonly operation: 'delete' };

export type Admission = {
  /** The object to go on with: each plugin works on what the one before left. Throws ApiError. */
  readonly admit: (request: WriteAdmission) => KubeObject;
  readonly admitDelete: (request: DeleteAdmission) => void;
};

export function createAdmission(
  plugins: readonly AdmissionPlugin[],
  facts: AdmissionFacts,
): Admission {
  return {
    admit(request) {
      let current = request;
      for (const plugin of plugins) {
        const after = plugin.admit(current, facts) ?? current.after;
        // Hardly any plugin changes anything, and a copy for each of them would cost more than they do.
        if (after !== current.after) current = { ...current, after };
      }
      return current.after;
    },
    admitDelete(request) {
      for (const plugin of plugins) plugin.admit(request, facts);
    },
  };
}

/** A refusal names the object as far as it has a name. */
export function refused({ definition, name, after }: AdmissionRequest, why: string): ApiError {
  const { name: given, generateName } = after?.metadata ?? {};
  return forbidden(
    { group: definition.group, resource: definition.plural },
    name || given || generateName || 'Unknown!',
    why,
  );
}

export function isResource({ definition }: AdmissionRequest, group: string, plural: string) {
  return definition.group === group && definition.plural === plural;
}
