// Users, and the attributes of requests that are authorized.

export type User = {
  readonly name: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
};

/** Of a request, as authorizers see it. */
export type AccessAttributes =
  | {
      readonly kind: 'resource';
      readonly verb: string;
      readonly group: string;
      readonly version: string;
      readonly resource: string;
      readonly subresource: string;
      /** Empty for cluster-wide requests. */
      readonly namespace: string;
      readonly name: string;
      /** Of lists and watches, as in the query; absent when there is none. */
      readonly fieldSelector?: string;
      readonly labelSelector?: string;
    }
  | { readonly kind: 'path'; readonly verb: string; readonly path: string };

export type AccessDecision = { readonly allowed: boolean; readonly reason: string };
