// The single steps by which what stands at AWS becomes what is wanted. Each can be repeated without harm.
import type {
  ClassicAttributes,
  ClassicListener,
  ClassicWanted,
  GroupWanted,
  NetworkListener,
  NetworkWanted,
  TargetGroupWanted,
} from './balancer.ts';
import type { Tags } from './names.ts';
import type { Rule } from './rules.ts';
import type { HealthCheckTimes } from './service-settings.ts';

export type GroupChange =
  | {
      readonly kind: 'createGroup';
      readonly vpcId: string;
      readonly group: GroupWanted;
      readonly tags: Tags;
    }
  | { readonly kind: 'tagGroup'; readonly groupId: string; readonly tags: Tags }
  | { readonly kind: 'grant'; readonly groupId: string; readonly rules: readonly Rule[] }
  | { readonly kind: 'revoke'; readonly groupId: string; readonly rules: readonly Rule[] }
  /** The same rules with other descriptions. */
  | { readonly kind: 'describe'; readonly groupId: string; readonly rules: readonly Rule[] }
  | { readonly kind: 'deleteGroup'; readonly groupId: string };

export type ClassicChange =
  | {
      readonly kind: 'createClassic';
      readonly name: string;
      readonly wanted: ClassicWanted;
      readonly groupIds: readonly string[];
      readonly tags: Tags;
    }
  | { readonly kind: 'deleteClassic'; readonly name: string }
  | { readonly kind: 'tagClassic'; readonly name: string; readonly tags: Tags }
  | { readonly kind: 'attachSubnets'; readonly name: string; readonly subnetIds: readonly string[] }
  | { readonly kind: 'detachSubnets'; readonly name: string; readonly subnetIds: readonly string[] }
  | { readonly kind: 'setGroups'; readonly name: string; readonly groupIds: readonly string[] }
  | { readonly kind: 'deleteListeners'; readonly name: string; readonly ports: readonly number[] }
  | {
      readonly kind: 'createListeners';
      readonly name: string;
      readonly listeners: readonly ClassicListener[];
    }
  | {
      readonly kind: 'setCertificate';
      readonly name: string;
      readonly port: number;
      readonly certificate: string;
    }
  | { readonly kind: 'createPolicy'; readonly name: string; readonly policy: ClassicPolicy }
  | {
      readonly kind: 'setListenerPolicies';
      readonly name: string;
      readonly port: number;
      readonly policies: readonly string[];
    }
  | {
      readonly kind: 'setBackendPolicies';
      readonly name: string;
      readonly instancePort: number;
      readonly policies: readonly string[];
    }
  | {
      readonly kind: 'checkHealth';
      readonly name: string;
      readonly target: string;
      readonly times: HealthCheckTimes;
    }
  | {
      readonly kind: 'setClassicAttributes';
      readonly name: string;
      readonly attributes: ClassicAttributes;
    }
  | { readonly kind: 'register'; readonly name: string; readonly instanceIds: readonly string[] }
  | { readonly kind: 'deregister'; readonly name: string; readonly instanceIds: readonly string[] };

export type ClassicPolicy = {
  readonly name: string;
  readonly type: string;
  readonly attribute: string;
  readonly value: string;
};

export type NetworkChange =
  | {
      readonly kind: 'createNetwork';
      readonly name: string;
      readonly wanted: NetworkWanted;
      readonly tags: Tags;
    }
  | { readonly kind: 'deleteNetwork'; readonly arn: string }
  | { readonly kind: 'tagResource'; readonly arn: string; readonly tags: Tags }
  | { readonly kind: 'setSubnets'; readonly arn: string; readonly subnetIds: readonly string[] }
  | { readonly kind: 'setNetworkAttributes'; readonly arn: string; readonly attributes: Tags }
  | {
      readonly kind: 'createTargetGroup';
      readonly vpcId: string;
      readonly wanted: TargetGroupWanted;
      readonly tags: Tags;
    }
  | { readonly kind: 'deleteTargetGroup'; readonly arn: string }
  | {
      readonly kind: 'setTargetGroup';
      readonly arn: string;
      readonly wanted: TargetGroupWanted;
    }
  | { readonly kind: 'setTargetGroupAttributes'; readonly arn: string; readonly attributes: Tags }
  | {
      readonly kind: 'registerTargets';
      readonly arn: string;
      readonly instanceIds: readonly string[];
      readonly port: number;
    }
  | {
      readonly kind: 'deregisterTargets';
      readonly arn: string;
      readonly instanceIds: readonly string[];
      readonly port: number;
    }
  | {
      readonly kind: 'createListener';
      readonly arn: string;
      readonly listener: NetworkListener;
      readonly targetGroupArn: string;
      readonly tags: Tags;
    }
  | {
      readonly kind: 'setListener';
      readonly arn: string;
      readonly listener: NetworkListener;
      readonly targetGroupArn: string;
    }
  | { readonly kind: 'deleteListener'; readonly arn: string };

export type Change = GroupChange | ClassicChange | NetworkChange;
