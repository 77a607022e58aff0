// What an account of AWS holds, as values that never change: an older state can be shown while a newer one counts.

export type Tags = Readonly<Record<string, string>>;

export type ClassicListener = {
  readonly port: number;
  readonly protocol: string;
  readonly instancePort: number;
  readonly instanceProtocol: string;
  readonly certificate?: string;
  readonly policies: readonly string[];
};

export type ClassicBalancer = {
  readonly name: string;
  readonly hostname: string;
  readonly scheme: string;
  readonly subnets: readonly string[];
  readonly groups: readonly string[];
  readonly listeners: readonly ClassicListener[];
  readonly instances: readonly string[];
  readonly policies: Readonly<Record<string, string>>;
  readonly backendPolicies: Readonly<Record<string, readonly string[]>>;
  readonly healthCheck: Readonly<Record<string, string | number>>;
  readonly attributes: ClassicAttributes;
  readonly tags: Tags;
};

export type ClassicAttributes = {
  readonly idleTimeout: number;
  readonly crossZone: boolean;
  readonly draining: { readonly enabled: boolean; readonly timeout: number };
  readonly accessLog: {
    readonly enabled: boolean;
    readonly bucket?: string;
    readonly prefix?: string;
    readonly interval: number;
  };
};

export type NetworkBalancer = {
  readonly arn: string;
  readonly name: string;
  readonly hostname: string;
  readonly scheme: string;
  readonly vpcId: string;
  readonly subnets: readonly string[];
  readonly attributes: Tags;
  readonly tags: Tags;
};

export type NetworkListener = {
  readonly arn: string;
  readonly balancerArn: string;
  readonly port: number;
  readonly protocol: string;
  readonly targetGroupArn: string;
  readonly certificate?: string;
  readonly sslPolicy?: string;
  readonly tags: Tags;
};

export type TargetGroup = {
  readonly arn: string;
  readonly name: string;
  readonly vpcId: string;
  readonly port: number;
  readonly protocol: string;
  readonly health: HealthSettings;
  /** Instances by their state. */
  readonly targets: Readonly<Record<string, 'healthy' | 'draining'>>;
  readonly attributes: Tags;
  readonly tags: Tags;
};

export type HealthSettings = {
  readonly protocol: string;
  readonly port: string;
  readonly path: string;
  readonly interval: number;
  readonly timeout: number;
  readonly healthy: number;
  readonly unhealthy: number;
};

export type Permission = {
  readonly protocol: string;
  readonly from: number;
  readonly to: number;
  readonly source: string;
  readonly description?: string;
};

export type SecurityGroup = {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly vpcId: string;
  readonly permissions: ReadonlyMap<string, Permission>;
  readonly tags: Tags;
};

export type Subnet = {
  readonly id: string;
  readonly vpcId: string;
  readonly zone: string;
  readonly cidr: string;
  readonly isPublic: boolean;
  readonly tags: Tags;
};

export type Instance = {
  readonly id: string;
  readonly state: string;
  readonly groups: readonly string[];
};

export type Account = {
  readonly classic: ReadonlyMap<string, ClassicBalancer>;
  readonly network: ReadonlyMap<string, NetworkBalancer>;
  readonly listeners: ReadonlyMap<string, NetworkListener>;
  readonly targetGroups: ReadonlyMap<string, TargetGroup>;
  readonly groups: ReadonlyMap<string, SecurityGroup>;
  readonly subnets: ReadonlyMap<string, Subnet>;
  readonly instances: ReadonlyMap<string, Instance>;
  readonly certificates: readonly string[];
};

export type Limits = {
  readonly balancers: number;
  readonly rulesPerGroup: number;
  /** Things in one answer of a list. */
  readonly pageSize: number;
};

/** The account that writes count for, and the one that is shown. */
export type World = {
  readonly now: () => Account;
  readonly shown: () => Account;
  readonly change: (to: (account: Account) => Account) => void;
  readonly nextId: () => string;
  readonly limits: Limits;
};

export class AwsError extends Error {
  readonly code: string;
  readonly status: number;
  constructor(code: string, message: string, status = 400) {
    super(message);
    this.code = code;
    this.status = status;
  }
}

export function put<V>(map: ReadonlyMap<string, V>, key: string, value: V): ReadonlyMap<string, V> {
  return new Map(map).set(key, value);
}

export function drop<V>(map: ReadonlyMap<string, V>, key: string): ReadonlyMap<string, V> {
  const copy = new Map(map);
  copy.delete(key);
  return copy;
}

export function permissionKey({ protocol, from, to, source }: Permission): string {
  return `${protocol} ${from}-${to} ${source}`;
}

/** One page of a list, and where the next begins. */
export function pageOf<T>(
  items: readonly T[],
  size: number,
  token: string | undefined,
): { readonly page: readonly T[]; readonly next: string | undefined } {
  const start = Number(token ?? 0);
  const end = start + size;
  return { page: items.slice(start, end), next: end < items.length ? String(end) : undefined };
}

export function requireNumber(
  name: string,
  value: number | undefined,
  [least, most]: readonly [number, number],
): number {
  if (value !== undefined && value >= least && value <= most) return value;
  throw new AwsError('ValidationError', `${name} must be between ${least} and ${most}`);
}

export const balancerNamePattern = /^[A-Za-z0-9]([A-Za-z0-9-]{0,30}[A-Za-z0-9])?$/;
export const knownSslPolicies = ['ELBSecurityPolicy-2016-08', 'ELBSecurityPolicy-TLS-1-2-2017-01'];
