// What a Service asks of its balancer, read from its fields and annotations.
import {
  type Address,
  type Family,
  formatAddress,
  parseAddressSloppy,
} from '../../../ip/address.ts';
import type { Service } from '../../../kinds/service/types.ts';
import type { PoolName } from './parse-pool.ts';

export type AddressRequest = {
  /** `namespace/name`, for explanations. */
  readonly key: string;
  readonly uid: string;
  readonly families: readonly Family[];
  /** Whether one family will do when there are no addresses of the other. */
  readonly takesOneFamily: boolean;
  readonly pool: PoolName;
  readonly requested: readonly RequestedAddress[];
  readonly sharing: Sharing;
};

/** An address by name. The text as it stands in the Service where it cannot be read. */
export type RequestedAddress = {
  readonly text: string;
  readonly source: string;
  readonly address: Address | undefined;
};

/** What decides who may share an address with whom. */
export type Sharing = {
  /** Empty: the address is not shared. */
  readonly sharingKey: string;
  /** `80/TCP` */
  readonly ports: readonly string[];
  /** Which pods get traffic from outside on which node: with policy Local only Services of the same pods go together. */
  readonly backends: string;
};

/** MetalLB's names are read as well: Services need not be changed to be moved. */
const addressAnnotations = ['fairlead.dev/load-balancer-ips', 'metallb.io/loadBalancerIPs'];
const sharingAnnotations = ['fairlead.dev/allow-shared-ip', 'metallb.io/allow-shared-ip'];

export function readAddressRequest({ metadata, spec }: Service): AddressRequest {
  const annotations = metadata.annotations ?? {};
  return {
    key: `${metadata.namespace ?? ''}/${metadata.name ?? ''}`,
    uid: metadata.uid ?? '',
    families: spec.ipFamilies ?? ['IPv4'],
    takesOneFamily: spec.ipFamilyPolicy === 'PreferDualStack',
    pool: asksForInternal(annotations) ? 'internal' : 'external',
    requested: requestedAddresses(spec, annotations),
    sharing: {
      sharingKey: firstAnnotation(annotations, sharingAnnotations)?.value ?? '',
      ports: (spec.ports ?? []).map(({ port, protocol = 'TCP' }) => `${port}/${protocol}`),
      backends:
        spec.externalTrafficPolicy === 'Local'
          ? `Local ${metadata.namespace ?? ''} ${selectorText(spec)}`
          : 'Cluster',
    },
  };
}

function requestedAddresses(
  spec: Service['spec'],
  annotations: Readonly<Record<string, string>>,
): readonly RequestedAddress[] {
  const annotated = firstAnnotation(annotations, addressAnnotations);
  if (annotated !== undefined) {
    const words = annotated.value.split(',').map((word) => word.trim());
    return words
      .filter((word) => word !== '')
      .map((text) => ({ text, source: annotated.name, address: parseAddressSloppy(text) }));
  }
  const text = spec.loadBalancerIP ?? '';
  if (text === '') return [];
  return [{ text, source: 'spec.loadBalancerIP', address: parseAddressSloppy(text) }];
}

function firstAnnotation(
  annotations: Readonly<Record<string, string>>,
  names: readonly string[],
): { readonly name: string; readonly value: string } | undefined {
  for (const name of names) {
    const value = annotations[name]?.trim();
    if (value !== undefined && value !== '') return { name, value };
  }
  return undefined;
}

const selectorText = ({ selector = {} }: Service['spec']): string =>
  JSON.stringify(Object.entries(selector).sort(([a], [b]) => (a < b ? -1 : 1)));

const yes = (value: string): boolean => value.toLowerCase() === 'true';
const equals =
  (word: string) =>
  (value: string): boolean =>
    value.toLowerCase() === word;

/** LBC-22: how the clouds spell it, so that a manifest written for one of them means the same here. */
const internalAnnotations: Readonly<Record<string, (value: string) => boolean>> = {
  'fairlead.dev/load-balancer-internal': yes,
  'networking.gke.io/load-balancer-type': equals('internal'),
  'cloud.google.com/load-balancer-type': equals('internal'),
  // Once the clients' range, later only whether.
  'service.beta.kubernetes.io/aws-load-balancer-internal': (value) =>
    value !== '' && value.toLowerCase() !== 'false',
  'service.beta.kubernetes.io/aws-load-balancer-scheme': equals('internal'),
  'service.beta.kubernetes.io/azure-load-balancer-internal': yes,
  'service.kubernetes.io/ibm-load-balancer-cloud-provider-ip-type': equals('private'),
  'service.beta.kubernetes.io/openstack-internal-load-balancer': yes,
  'service.beta.kubernetes.io/cce-load-balancer-internal-vpc': yes,
  'service.kubernetes.io/qcloud-loadbalancer-internal-subnetid': (value) => value !== '',
  'service.beta.kubernetes.io/alibaba-cloud-loadbalancer-address-type': equals('intranet'),
  'service.beta.kubernetes.io/oci-load-balancer-internal': yes,
};

/** Whether this provider does what the annotation says. */
export function isKnownAnnotation(name: string): boolean {
  return (
    Object.hasOwn(internalAnnotations, name) ||
    addressAnnotations.includes(name) ||
    sharingAnnotations.includes(name)
  );
}

export function asksForInternal(annotations: Readonly<Record<string, string>>): boolean {
  return Object.entries(internalAnnotations).some(([name, means]) => {
    const value = annotations[name];
    return value !== undefined && means(value.trim());
  });
}

/** The addresses that a Service's status says it has, in one spelling. */
export function publishedAddresses({ status }: Service): readonly string[] {
  return (status.loadBalancer?.ingress ?? []).flatMap(({ ip }) => {
    const address = ip === undefined ? undefined : parseAddressSloppy(ip);
    return address === undefined ? [] : [formatAddress(address)];
  });
}
