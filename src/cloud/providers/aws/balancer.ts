// The words in which wanted and found balancers are compared, whatever the SDK calls them.
import type { Tags } from './names.ts';
import type { Rule } from './rules.ts';
import type { AccessLog, HealthCheckTimes } from './service-settings.ts';

/** All that is to stand at AWS for one Service, but for the rules in the nodes' groups. */
export type Wanted = {
  readonly name: string;
  readonly vpcId: string;
  readonly tags: Tags;
  /** Made for this balancer. */
  readonly group?: GroupWanted;
  readonly balancer: ClassicWanted | NetworkWanted;
};

/** All that stands there now under the names that a Service's things have. */
export type Found = {
  readonly group?: GroupFound;
  readonly classic?: ClassicFound;
  readonly network?: NetworkFound;
  /** Ours only. */
  readonly targetGroups: readonly TargetGroupFound[];
};

export type GroupWanted = {
  readonly name: string;
  readonly description: string;
  readonly rules: readonly Rule[];
};
export type GroupFound = {
  readonly id: string;
  readonly tags: Tags;
  readonly rules: readonly Rule[];
};

export type ClassicProtocol = 'TCP' | 'SSL' | 'HTTP' | 'HTTPS';

export type ClassicListener = {
  readonly port: number;
  readonly protocol: ClassicProtocol;
  readonly instancePort: number;
  readonly instanceProtocol: ClassicProtocol;
  readonly certificate?: string;
};

export type ClassicAttributes = {
  readonly accessLog: AccessLog;
  readonly drainingSeconds?: number;
  readonly idleSeconds: number;
  readonly isCrossZone: boolean;
};

export type ClassicWanted = {
  readonly kind: 'classic';
  readonly isInternal: boolean;
  readonly subnetIds: readonly string[];
  readonly listeners: readonly ClassicListener[];
  /** Of encrypted listeners. */
  readonly sslPolicy: string;
  readonly usesProxyProtocol: boolean;
  /** `HTTP:10256/healthz` */
  readonly healthTarget: string;
  readonly healthCheck: HealthCheckTimes;
  readonly attributes: ClassicAttributes;
  readonly instanceIds: readonly string[];
  /** Kept where they are, but nowhere added. */
  readonly stoppedIds: readonly string[];
  /** Beside the group that is made, or instead of it. */
  readonly groupIds: readonly string[];
};

export type ClassicFound = {
  readonly tags: Tags;
  readonly hostname: string;
  readonly isInternal: boolean;
  readonly subnetIds: readonly string[];
  readonly listeners: readonly (ClassicListener & { readonly policies: readonly string[] })[];
  /** Policies towards the nodes, by port. */
  readonly backendPolicies: ReadonlyMap<number, readonly string[]>;
  /** Names of all policies that the balancer has. */
  readonly policies: readonly string[];
  readonly healthTarget: string;
  readonly healthCheck: HealthCheckTimes;
  readonly attributes: ClassicAttributes;
  readonly instanceIds: readonly string[];
  readonly groupIds: readonly string[];
};

export type NetworkProtocol = 'TCP' | 'UDP' | 'TLS';

export type TargetGroupWanted = {
  readonly name: string;
  readonly protocol: NetworkProtocol;
  readonly port: number;
  readonly healthPort: number;
  readonly healthPath: string;
  readonly healthCheck: HealthCheckTimes;
  readonly attributes: Tags;
};

export type NetworkListener = {
  readonly port: number;
  readonly protocol: NetworkProtocol;
  readonly certificate?: string;
  readonly sslPolicy?: string;
};

export type NetworkWanted = {
  readonly kind: 'network';
  readonly isInternal: boolean;
  readonly subnetIds: readonly string[];
  readonly listeners: readonly (NetworkListener & { readonly targetGroup: TargetGroupWanted })[];
  readonly attributes: Tags;
  readonly instanceIds: readonly string[];
  readonly stoppedIds: readonly string[];
};

export type NetworkFound = {
  readonly arn: string;
  readonly tags: Tags;
  readonly hostname: string;
  readonly isInternal: boolean;
  readonly subnetIds: readonly string[];
  readonly listeners: readonly (NetworkListener & {
    readonly arn: string;
    readonly tags: Tags;
    readonly targetGroupArn: string;
  })[];
  readonly attributes: Tags;
};

export type TargetGroupFound = TargetGroupWanted & {
  readonly arn: string;
  readonly tags: Tags;
  /** Those that are leaving are no longer part of it. */
  readonly instanceIds: readonly string[];
};
